/**
 * A run of a flow: recorded events folded into its plan, and the commands that follow. Written once
 * over a plan (`FlowPlan`); the plain form folds a whole state with it, the cursor keeps it.
 *
 * Invariants: `#open` holds exactly the occurrences that have begun and not ended; the counters
 * agree with it. Skips are resolved after every event, so that the state does not depend on when
 * `decide` is asked. Events that name another position than the one in hand change nothing.
 */
import { isJsonObject, type JsonObject, type JsonValue, sealJson, setOwn } from '../base/json.ts';
import { BODY_HANDLE, OUT_HANDLE } from '../flow/flow-graph.ts';
import type { PlanState } from '../flow/plan-state.ts';
import { flowPosition, parseFlowPosition } from '../flow/step-key.ts';
import type { DispatchCommand, GraphCommand } from '../graph/commands.ts';
import type { GraphEvent } from '../graph/graph-type.ts';
import { failedCommand, pauseCommand, settledCommand } from './flow-end.ts';
import type { FlowForm, FlowFormNode } from './flow-form.ts';
import { flowNodeInput } from './flow-input.ts';
import type { FlowPlan } from './flow-plan.ts';
import { triedAgain } from './flow-retry.ts';
import {
  type FlowFailure,
  type FlowOccurrenceState,
  type FlowState,
  type FlowUndoState,
  NO_UNDO,
} from './flow-state.ts';
import { isUndoPosition, UndoStack } from './flow-undo.ts';

/** What a fold continues from, by node index. */
export interface FlowFoldParts {
  readonly outputs: Iterable<readonly [number, JsonValue]>;
  readonly open: Iterable<readonly [number, FlowOccurrenceState]>;
  readonly failures: readonly FlowFailure[];
  readonly undo: FlowUndoState;
}

const NO_PARTS: FlowFoldParts = { outputs: [], open: [], failures: [], undo: NO_UNDO };

export class FlowFold<Plan extends FlowPlan = FlowPlan> {
  readonly plan: Plan;
  readonly #form: FlowForm;
  readonly #outputs: Map<number, JsonValue>;
  readonly #open = new Map<number, FlowOccurrenceState>();
  readonly #again = new Set<number>();
  readonly #paused = new Set<number>();
  /** Occurrences in flight; of these, delays: they hold no failure back. */
  #inFlight = 0;
  #delays = 0;
  #failures: readonly FlowFailure[];
  readonly #undo: UndoStack;

  constructor(form: FlowForm, plan: Plan, parts: FlowFoldParts = NO_PARTS) {
    this.#form = form;
    this.plan = plan;
    this.#outputs = new Map(parts.outputs);
    this.#failures = parts.failures;
    this.#undo = new UndoStack(parts.undo);
    for (const [node, occurrence] of parts.open) this.#enter(node, occurrence);
    plan.readyNodes();
  }

  /** Folds one event; false when it changed nothing. */
  apply({ type, payload }: GraphEvent): boolean {
    if (!isJsonObject(payload)) return false;
    const { nodeId, position } = payload;
    const node = typeof nodeId === 'string' ? this.#form.topology.indexOf.get(nodeId) : undefined;
    if (node === undefined || typeof position !== 'string') return false;
    if (isUndoPosition(position)) return this.#applyUndo(node, type, payload);
    if (type === 'node-dispatched') return this.#dispatched(node, position);
    const occurrence = this.#open.get(node);
    if (occurrence === undefined || occurrence.status === 'again') return false;
    if (position !== this.#position(node, occurrence.attempt)) return false;
    return this.#settle(node, occurrence, { type, payload });
  }

  decide(): readonly GraphCommand[] {
    if (this.#failures.length > 0) {
      return this.#inFlight > this.#delays ? [] : [failedCommand(this.#failures)];
    }
    const { ready } = this.plan.readyNodes();
    const nodes = this.#again.size === 0 ? ready : [...this.#again, ...ready].sort((a, b) => a - b);
    if (nodes.length > 0) return sealJson(nodes.map((node) => this.#dispatch(node)));
    if (this.#inFlight > 0) return [];
    if (this.#paused.size > 0) {
      const paused = [...this.#paused].sort((a, b) => a - b);
      return [pauseCommand(paused.map((node) => this.#node(node).id))];
    }
    return [settledCommand(this.#source())];
  }

  /** The next undo; nothing while one is in flight. */
  compensate(): readonly GraphCommand[] {
    const next = this.#undo.next();
    const node = this.#form.topology.indexOf.get(next?.run.nodeId ?? '');
    if (next === null || node === undefined) return [];
    const { nodeId, output } = next.run;
    const input = { ...flowNodeInput(this.#source(), node), undo: true, output };
    return [{ kind: 'dispatch', nodeId, position: next.position, input }];
  }

  state(): FlowState {
    const outputs: Record<string, JsonValue> = {};
    for (const [node, output] of this.#outputs) setOwn(outputs, this.#node(node).id, output);
    const open: Record<string, FlowOccurrenceState> = {};
    for (const [node, occurrence] of this.#open) setOwn(open, this.#node(node).id, occurrence);
    return {
      plan: this.plan.state() satisfies PlanState,
      outputs,
      open,
      failures: this.#failures,
      undo: this.#undo.state(),
    };
  }

  /** What another fold continues from, beside the plan. */
  parts(): {
    readonly outputs: readonly (readonly [number, JsonValue])[];
    readonly open: readonly (readonly [number, FlowOccurrenceState])[];
    readonly failures: readonly FlowFailure[];
    readonly undo: FlowUndoState;
  } {
    return {
      outputs: [...this.#outputs],
      open: [...this.#open],
      failures: this.#failures,
      undo: this.#undo.state(),
    };
  }

  #applyUndo(node: number, type: string, payload: JsonObject): boolean {
    const step = this.#undo.apply(type, payload);
    if (step === 'ignored' || step === 'noted') return step === 'noted';
    const isLast = parseFlowPosition(step.position)?.runs === this.plan.runs(node);
    if (isLast && this.plan.status(node) === 'succeeded') this.plan.mark(node, 'rolled_back');
    return true;
  }

  #dispatched(node: number, position: string): boolean {
    const occurrence = this.#open.get(node);
    if (occurrence?.status === 'again') {
      const attempt = occurrence.attempt + 1;
      if (position !== this.#position(node, attempt)) return false;
      const { failures } = occurrence;
      this.#enter(node, { attempt, failures, status: 'open' });
      return true;
    }
    if (occurrence !== undefined || this.plan.status(node) !== 'pending') return false;
    const { id, type } = this.#node(node);
    if (position !== flowPosition(id, this.plan.runs(node) + 1)) return false;
    this.plan.beginNode(node);
    this.#enter(node, { attempt: 1, failures: 0, status: 'open' });
    if (type === 'delay') this.plan.mark(node, 'waiting');
    return true;
  }

  #settle(node: number, occurrence: FlowOccurrenceState, event: Omit<GraphEvent, 'version'>) {
    const payload = event.payload as JsonObject;
    switch (event.type) {
      case 'node-completed':
        this.#completed(node, occurrence, payload['result'] ?? null);
        return true;
      case 'node-failed':
        this.#failed(node, occurrence, payload);
        return true;
      case 'node-paused':
        if (occurrence.status === 'paused') return false;
        this.#enter(node, { ...occurrence, status: 'paused' });
        this.plan.mark(node, 'waiting');
        return true;
      case 'node-resumed':
        if (occurrence.status === 'open') return false;
        this.#enter(node, { ...occurrence, status: 'open' });
        this.plan.mark(node, 'running');
        return true;
      default:
        return false;
    }
  }

  #completed(node: number, { attempt }: FlowOccurrenceState, result: JsonValue): void {
    const { id, type, branches, hasUndo } = this.#node(node);
    const { output = null, branch } = isJsonObject(result) ? result : {};
    if (hasUndo) {
      this.#undo.push({ nodeId: id, position: this.#position(node, attempt), output });
    }
    this.#leave(node);
    this.#outputs.set(node, output);
    const chosen = typeof branch === 'string' ? branch : OUT_HANDLE;
    if (type === 'control.loop') this.plan.completeLoop(node, chosen === BODY_HANDLE);
    else this.plan.completeNode(node, branches.length === 0 ? [] : [chosen]);
    this.plan.readyNodes();
  }

  #failed(node: number, occurrence: FlowOccurrenceState, failure: JsonObject): void {
    const { id, retry } = this.#node(node);
    const again = triedAgain(occurrence, failure, retry);
    if (again !== null) {
      this.#enter(node, again);
      // A pause that ended in a failure waits no longer.
      this.plan.mark(node, 'running');
      return;
    }
    this.#leave(node);
    const { code = '', message = '' } = failure as { code?: string; message?: string };
    if (this.plan.failNode(node)) this.#outputs.set(node, { code, message });
    else this.#failures = [...this.#failures, { nodeId: id, code, message }];
    this.plan.readyNodes();
  }

  #dispatch(node: number): DispatchCommand {
    const { id, delayMs } = this.#node(node);
    const input = flowNodeInput(this.#source(), node);
    const occurrence = this.#open.get(node);
    if (occurrence === undefined) {
      const position = flowPosition(id, this.plan.runs(node) + 1);
      const first = { kind: 'dispatch', nodeId: id, input, position } as const;
      return sealJson(delayMs === 0 ? first : { ...first, delayMs });
    }
    return sealJson({
      kind: 'dispatch',
      nodeId: id,
      input,
      position: this.#position(node, occurrence.attempt + 1),
      retryOf: this.#position(node, 1),
      ...(occurrence.delayMs !== undefined && { delayMs: occurrence.delayMs }),
    });
  }

  #source() {
    return { form: this.#form, plan: this.plan, outputs: this.#outputs };
  }

  #node(node: number): FlowFormNode {
    return this.#form.nodes[node] as FlowFormNode;
  }

  #position(node: number, attempt: number): string {
    return flowPosition(this.#node(node).id, this.plan.runs(node), attempt);
  }

  /** Puts an occurrence where its status belongs, taking it from where it was. */
  #enter(node: number, occurrence: FlowOccurrenceState): void {
    this.#leave(node);
    this.#open.set(node, occurrence);
    if (occurrence.status === 'again') this.#again.add(node);
    else if (occurrence.status === 'paused') this.#paused.add(node);
    else this.#countInFlight(node, 1);
  }

  #leave(node: number): void {
    const before = this.#open.get(node);
    if (before === undefined) return;
    this.#open.delete(node);
    if (before.status === 'again') this.#again.delete(node);
    else if (before.status === 'paused') this.#paused.delete(node);
    else this.#countInFlight(node, -1);
  }

  #countInFlight(node: number, change: 1 | -1): void {
    this.#inFlight += change;
    if (this.#node(node).type === 'delay') this.#delays += change;
  }
}
