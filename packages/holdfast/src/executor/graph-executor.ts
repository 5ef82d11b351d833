/** `createGraphExecutor`: checks what it is given against the stored run, then wires the loop. */

import type { NodeBinding } from '../attempt/binding.ts';
import type { GraphEngineBinding } from '../attempt/engine-work.ts';
import { requireObject } from '../base/option.ts';
import type { Clock, Ids } from '../base/ports.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import type { Memory } from '../memory/memory.ts';
import type { GraphNodeBinding } from '../nodes/long-form.ts';
import { LaneBook } from '../run/lane-book.ts';
import { hashText } from '../store/host-hash.ts';
import type { LeaseGrant } from '../store/lease-store.ts';
import type { RunStorage } from '../store/storage.ts';
import { createSystemClock } from '../store/system-clock.ts';
import { createSystemIds } from '../store/system-ids.ts';
import { requireScratch } from '../workspace/scratch-directory.ts';
import { endingChildren } from './child-runs.ts';
import { Driver } from './driver.ts';
import { EngineSeats } from './engine-bindings.ts';
import type { ChildExecutor, GraphExecutor } from './executor.ts';
import { fittingNodes, inherited, requireChildParts, requiredMemory } from './graph-parts.ts';
import { checkedOptions, requireGraph, requireLease, requireStorage } from './option-check.ts';
import type { EngineLine, ExecutorSettings, LogLine } from './options.ts';
import {
  mismatch,
  type RunDefinition,
  readInputs,
  readPlan,
  readRunStart,
  requireStoredPlan,
  streamOf,
} from './run-definition.ts';
import { createRunInbox } from './run-inbox.ts';
import { SNAPSHOT_TAIL_EVENTS } from './snapshot-policy.ts';

/** Which run is driven, with which code, and within which limits. */
export interface GraphExecutorOptions {
  readonly runId: string;
  readonly graph: AnyCompiledGraph;
  readonly storage: RunStorage;
  /** One binding for each node of the definition. */
  readonly nodes: Readonly<Record<string, NodeBinding | GraphNodeBinding>>;
  /** One engine for each target that the stored plan may use; none for a plan without lanes. */
  readonly engines?: readonly GraphEngineBinding[];
  /** Where engines are checked: an absolute path; needed when the plan asks for checks. */
  readonly preflightScratchDirectory?: string | undefined;
  readonly bindings?: { readonly memory?: Memory };
  readonly clock?: Clock;
  /** Where the mark of this executor comes from; random by default. */
  readonly ids?: Ids;
  /** The lease under which this process drives the run; its token goes with every append. */
  readonly lease?: LeaseGrant;
  /** How many attempts may be in flight at once; 64 by default. */
  readonly maxConcurrentAttempts?: number | undefined;
  /** A run that wants more dispatches fails with `BUDGET_STOP`; no limit by default. */
  readonly maxDispatches?: number | undefined;
  /** Delays longer than this end `run` with `waiting`; none by default. */
  readonly maxIdleMs?: number | undefined;
  readonly onLog?: (line: LogLine) => void;
  /** Told of what engines say while they work; nothing of it is recorded. */
  readonly onEngineEvent?: (line: EngineLine) => void;
}

/**
 * An executor of one stored run. Seed 000.
 *
 * Throws `RUN_NOT_FOUND`, `STORED_GRAPH_MISMATCH`, `MISSING_NODE_BINDING`, `MISSING_MEMORY`,
 * `MISSING_ENGINE_BINDING`, `INVALID_PREFLIGHT_CONFIG`, `INVALID_OPTION`, and what the store
 * throws.
 *
 * @example
 * const executor = await createGraphExecutor({
 *   runId: 'r1', graph, storage, nodes: { draft: dataNode(write), review: dataNode(check) },
 * });
 * const result = await executor.run();
 */
export async function createGraphExecutor(options: GraphExecutorOptions): Promise<GraphExecutor> {
  requireObject('options', options);
  requireLease(options.lease, options.runId);
  const executor = await assembleExecutor(options, { snapshotTailEvents: SNAPSHOT_TAIL_EVENTS });
  requireChildParts(options);
  return executor;
}

/** A mark this long tells any two owners of one run apart, and costs little in each append. */
const WRITER_LENGTH = 13;

/** What only tests change: to see in short runs what happens in long ones. */
export type ExecutorTuning = Pick<ExecutorSettings, 'snapshotTailEvents'>;

/** `createGraphExecutor` with its tuning. */
export async function assembleExecutor(
  options: GraphExecutorOptions,
  tuning: ExecutorTuning,
): Promise<ChildExecutor> {
  const checked = checkedOptions(options);
  const { runId, graph, storage } = options;
  requireGraph(graph);
  requireStorage(storage);
  const { definition } = await readRunStart(storage, runId);
  refuseOtherGraph(runId, graph, definition);
  const { clock = createSystemClock(), ids = createSystemIds(), lease, bindings } = options;
  const lanes = await plannedLanes(storage, graph, definition);
  const engines = new EngineSeats(options.engines ?? []);
  engines.requireExactly(lanes);
  const hasChecks = lanes.plan.preflight !== undefined;
  const { preflightScratchDirectory: scratch } = options;
  const settings: ExecutorSettings = {
    stream: streamOf(storage, runId),
    graph,
    storage,
    bindings: fittingNodes(graph, options.nodes, lanes),
    lanes,
    engines,
    preflightScratchDirectory: hasChecks ? requireScratch(scratch) : null,
    runInput: await readInputs(storage, runId, definition),
    memory: requiredMemory(graph, bindings?.memory),
    clock,
    hash: hashText,
    fence: lease?.fence ?? null,
    writer: ids.next().slice(0, WRITER_LENGTH),
    ...checked,
    ...tuning,
    onLog: options.onLog ?? (() => {}),
    onEngineEvent: options.onEngineEvent ?? (() => {}),
    childExecutor: (childId, child) => {
      const { graph: childGraph, nodes } = child;
      const own = child.engines ?? inherited(engines, child);
      const childOptions = { ...options, runId: childId, graph: childGraph, nodes, engines: own };
      // The parent's token fences its child's stream too: who lost the parent lost the child.
      return assembleExecutor(childOptions, tuning);
    },
  };
  const driver = new Driver(settings);
  const executor = createRunInbox(driver, settings);
  const hasChildren = [...settings.bindings.values()].some(({ child }) => child !== null);
  if (!hasChildren) return executor;
  return endingChildren(executor, {
    storage,
    look: (select) => driver.look(select),
    openChildren: driver.openChildren,
  });
}

/** The lanes of the stored plan, which must be the one that was stored; only lanes need more. */
async function plannedLanes(
  storage: RunStorage,
  graph: AnyCompiledGraph,
  definition: RunDefinition,
): Promise<LaneBook> {
  const { runId } = definition;
  if (graph.describe().executionLanes.length === 0) {
    await requireStoredPlan(storage, runId, definition);
    return LaneBook.none;
  }
  return new LaneBook((await readPlan(storage, runId, definition)).plan);
}

/** The graph must be the stored one: definition, kind and versions; its code is not compared. */
function refuseOtherGraph(runId: string, graph: AnyCompiledGraph, stored: RunDefinition): void {
  const supplied = graph.describe().graph;
  const parts = ['id', 'kind', 'typeVersion', 'definitionVersion', 'definitionDigest'] as const;
  for (const part of parts) {
    if (stored.graph[part] !== supplied[part]) {
      throw mismatch(runId, part, stored.graph[part], supplied[part]);
    }
  }
}
