/** The code of a stored run. */
import type { GraphExecutorOptions } from '../../executor/graph-executor.ts';

/**
 * A compiled graph with a binding for each of its nodes, and whatever else of its host the run
 * needs: engines, a memory, a place for engine checks, limits, and who is told of what.
 *
 * @example const bound: BoundRun = { graph, nodes, engines: [{ target, engine }] };
 */
export type BoundRun = Pick<
  GraphExecutorOptions,
  | 'graph'
  | 'nodes'
  | 'engines'
  | 'bindings'
  | 'preflightScratchDirectory'
  | 'ids'
  | 'maxConcurrentAttempts'
  | 'maxDispatches'
  | 'onLog'
  | 'onEngineEvent'
>;
