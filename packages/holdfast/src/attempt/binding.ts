/** What a host binds to a node: the code, and the rules under which it runs. */
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import type { ResolvedPlanSnapshot } from '../graph/plan.ts';
import type { PauseRequest } from '../history/catalog.ts';
import type { PositionRecord } from '../run/position-record.ts';
import type { ArtifactReference } from '../store/artifact-store.ts';
import { type NodeWorkspacePolicy, noWorkspace } from '../workspace/workspace-policy.ts';
import type { EngineWork, GraphEngineBinding } from './engine-work.ts';
import { type AttemptLimits, NO_LIMITS } from './limits.ts';
import type { NodeContext } from './node-context.ts';
import type { AttemptOutcome } from './outcome.ts';

export type { PositionRecord };

/** What the host's policy says of one attempt, before node code runs. */
export type ActionDecision =
  | { readonly kind: 'allow' }
  | { readonly kind: 'wait'; readonly reason: string; readonly request: JsonObject }
  | { readonly kind: 'deny'; readonly reason: string };

/** Returned by node code that has to wait: the attempt pauses instead of completing. */
export class PauseAttempt {
  readonly reason: string;
  readonly request: PauseRequest;

  constructor(reason: string, request: PauseRequest) {
    this.reason = reason;
    this.request = request;
  }
}

/** What an answer, a signal or a deadline makes of a paused attempt. Pure. */
export interface WaitEndings {
  /** Throws `ANSWER_INVALID` for an answer that the wait does not accept. */
  readonly answered?: (answer: JsonValue, record: PositionRecord) => AttemptOutcome;
  readonly signalled?: (payload: JsonValue, record: PositionRecord) => AttemptOutcome;
  readonly expired?: (record: PositionRecord) => AttemptOutcome;
}

/** Finds the endings that a node's binding declares. */
export type EndingsOf = (nodeId: string) => WaitEndings;

/** What child runs of a node run: the same for each of them. */
export interface ChildGraph {
  readonly graph: AnyCompiledGraph;
  readonly nodes: NodeBindings;
  /** The engines of its lanes; by default those of the run above it. */
  readonly engines?: readonly GraphEngineBinding[];
  /** The plan it is stored with; by default the graph's own. */
  readonly resolvedPlan?: ResolvedPlanSnapshot;
}

/** A run of its own that stands for one attempt. */
export interface ChildRun extends ChildGraph {
  readonly input: JsonValue;
}

/** What stands in place of a value that has become an artifact of its run. */
export interface StoredValue {
  readonly artifact: ArtifactReference;
}

/** The part of a result that may grow large, and the result with what stands in its place. */
export interface LargePart {
  readonly of: (result: JsonValue) => JsonValue;
  readonly replaced: (stored: JsonValue) => JsonValue;
}

const WHOLE_RESULT: LargePart = { of: (result) => result, replaced: (stored) => stored };

/** A node binding with all its defaults filled in. */
export interface NodeBinding {
  /** Whether a crash during the attempt may run it again without asking. */
  readonly retrySafe: boolean;
  /** After this long the attempt's signal is aborted; null = never. */
  readonly timeoutMs: number | null;
  /** How long an aborted attempt may still settle. */
  readonly graceMs: number;
  /** What becomes of a result over the event limit. */
  readonly largeResult: 'refuse' | 'artifact';
  /** Which part of a large result becomes an artifact. */
  readonly largePart: LargePart;
  readonly decideAction:
    | ((input: JsonValue, context: NodeContext) => ActionDecision | Promise<ActionDecision>)
    | null;
  readonly limits: AttemptLimits;
  /** What the code may do to a working directory. */
  readonly workspace: NodeWorkspacePolicy;
  /** Turns what the code returned into the node's result, or throws why it is none. */
  readonly contract: ((value: JsonValue) => unknown) | null;
  /** For an engine-backed node; `run` is then not called. */
  readonly engine: EngineWork | null;
  readonly run: (input: JsonValue, context: NodeContext, record: PositionRecord) => unknown;
  readonly endings: WaitEndings;
  /** For a node whose attempt is a run of its own; `run` is then not called. */
  readonly child: ((input: JsonValue, context: NodeContext) => ChildRun) | null;
  /** What each child runs, where that does not depend on the input. */
  readonly childGraph: ChildGraph | null;
  /** What the node's result is, given the child's output. */
  readonly childResult: (output: JsonValue) => unknown;
}

/** Bindings by node id. */
export type NodeBindings = Readonly<Record<string, NodeBinding>>;

/** How long an aborted attempt may still settle, unless its binding says otherwise. */
const DEFAULT_GRACE_MS = 5_000;

/** A binding from what differs from the defaults. */
export function nodeBinding(given: Partial<NodeBinding> & Pick<NodeBinding, 'run'>): NodeBinding {
  return {
    retrySafe: false,
    timeoutMs: null,
    graceMs: DEFAULT_GRACE_MS,
    largeResult: 'refuse',
    largePart: WHOLE_RESULT,
    decideAction: null,
    limits: NO_LIMITS,
    workspace: noWorkspace,
    contract: null,
    engine: null,
    endings: {},
    child: null,
    childGraph: null,
    childResult: (output) => output,
    ...given,
  };
}
