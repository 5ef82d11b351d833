/** `runFlow`: stores, runs and resumes a flow in a directory of this machine. */
import { createLocalRunStorage } from '../../adapters/sqlite/storage.ts';
import { digestJson } from '../../base/digest.ts';
import { isErrorCode } from '../../base/error-codes.ts';
import { HoldfastError } from '../../base/errors.ts';
import { cloneFrozenJson, type JsonValue } from '../../base/json.ts';
import { driveToRest } from '../../executor/child-runs.ts';
import type { GraphExecutor } from '../../executor/executor.ts';
import { createGraphExecutor } from '../../executor/graph-executor.ts';
import { continuation } from '../../executor/run-end.ts';
import { isChildRunId } from '../../executor/run-names.ts';
import { startRun } from '../../executor/start-run.ts';
import { flowGraphType } from '../../forms/flow.ts';
import { flowDefinition } from '../../forms/flow-definition.ts';
import { compileGraph } from '../../graph/compile.ts';
import type { CodeNodes, DefinedFlow, FlowOutput } from '../../nodes/flow/define-flow.ts';
import { type FlowNodesOptions, flowNodes } from '../../nodes/flow/flow-nodes.ts';
import { currentOwner } from '../../process/owner.ts';
import type { PauseView, RunResult } from '../../run/run-result.ts';
import { defaultStoragePolicy } from '../../store/policy.ts';
import type { RunIndexRow } from '../../store/run-index.ts';
import type { RunStorage } from '../../store/storage.ts';
import { createSystemClock } from '../../store/system-clock.ts';
import type { BoundRun } from './bound-run.ts';
import { holdLease } from './held-lease.ts';

export interface RunFlowOptions extends FlowNodesOptions {
  /** Where runs are stored; `.holdfast` by default. */
  readonly directory?: string;
  /** Aborting it halts the run, which stays resumable. */
  readonly signal?: AbortSignal;
  /**
   * Asked about every open pause. It answers through the executor and returns true, or returns
   * false to leave the run paused. Without it a pause ends the call with `FLOW_PAUSED`.
   */
  readonly onPause?: (pause: PauseView, executor: GraphExecutor) => boolean | Promise<boolean>;
}

/** The namespace of runs that one directory holds. */
export const LOCAL_NAMESPACE = 'local';

/**
 * Runs a flow and returns its output. Called again after a kill it goes on with the unfinished run
 * of the same flow and input; once that has ended, it starts a new one.
 *
 * Throws the code the flow failed with, `FLOW_PAUSED` with the open pauses, `RUN_OWNED` when
 * another process drives the run, `ABORTED`, and storage codes.
 *
 * @example const { nodes } = await runFlow(flow, { name: 'Ada' });
 */
export async function runFlow<Nodes extends CodeNodes>(
  defined: DefinedFlow<Nodes>,
  input: JsonValue,
  options: RunFlowOptions = {},
): Promise<FlowOutput<Nodes>> {
  const { directory = '.holdfast' } = options;
  const bound = {
    graph: compileGraph(flowGraphType, flowDefinition(defined.flow)),
    nodes: flowNodes(defined.flow, defined.functions, options),
  };
  const storage = createLocalRunStorage({
    directory,
    namespace: LOCAL_NAMESPACE,
    policy: defaultStoragePolicy,
  });
  try {
    return (await runStored(storage, bound, { input, options })) as unknown as FlowOutput<Nodes>;
  } finally {
    await storage.close();
  }
}

interface FlowCall {
  readonly input: JsonValue;
  readonly options: RunFlowOptions;
}

/** Goes on with the run and with those that it continues as. */
async function runStored(storage: RunStorage, bound: BoundRun, call: FlowCall): Promise<JsonValue> {
  let runId = await openRunOf(storage, bound, cloneFrozenJson(call.input));
  for (;;) {
    const result = await driveOne(storage, bound, { runId, options: call.options });
    if (result.kind !== 'complete') throw notComplete(runId, result);
    const next = continuation(result.output);
    if (next === null) return result.output;
    runId = next.runId;
    if ((await storage.runIndex.get(runId)) === null) {
      await startRun(storage, { runId, graph: bound.graph, input: next.input });
    }
  }
}

/** The newest unfinished run of this flow and input, or a new one. */
async function openRunOf(storage: RunStorage, bound: BoundRun, input: JsonValue): Promise<string> {
  const runIdPrefix = prefixOf(bound, input);
  const { runs } = await storage.runIndex.list({ runIdPrefix }, { limit: 1_000 });
  const own = runs.filter(({ runId }) => !isChildRunId(runId));
  const open = own.find(({ status }) => status === 'running' || status === 'paused');
  if (open !== undefined) return open.runId;
  const unfollowed = await unfollowedSuccessor(storage, bound, own);
  if (unfollowed !== null) return unfollowed;
  const numbers = own.map(({ runId }) => Number.parseInt(runId.slice(runIdPrefix.length), 10));
  const runId = `${runIdPrefix}${Math.max(0, ...numbers) + 1}`;
  await startRun(storage, { runId, graph: bound.graph, input });
  return runId;
}

/** A kill between a run's end and its successor's start: that successor is the open run. */
async function unfollowedSuccessor(
  storage: RunStorage,
  bound: BoundRun,
  [newest]: readonly RunIndexRow[],
): Promise<string | null> {
  if (newest?.status !== 'complete' || newest.wakeAt === null) return null;
  const executor = await createGraphExecutor({ ...bound, storage, runId: newest.runId });
  const result = await executor.run();
  const next = result.kind === 'complete' ? continuation(result.output) : null;
  if (next === null) return null;
  await startRun(storage, { runId: next.runId, graph: bound.graph, input: next.input });
  return next.runId;
}

function prefixOf(bound: BoundRun, input: JsonValue): string {
  const { value, digest } = bound.graph.definition;
  const name = value.id.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 64);
  const key = digestJson([digest, input]).slice('sha256:'.length).slice(0, 16);
  return `${/^[A-Za-z0-9]/.test(name) ? name : `flow${name}`}-${key}-`;
}

async function driveOne(
  storage: RunStorage,
  bound: BoundRun,
  call: { readonly runId: string; readonly options: RunFlowOptions },
): Promise<RunResult> {
  const clock = createSystemClock();
  const { runId, options } = call;
  const lease = await holdLease(storage, runId, { owner: currentOwner(), clock });
  const halt = new AbortController();
  const stop = () => halt.abort();
  options.signal?.addEventListener('abort', stop, { once: true });
  lease.lost.addEventListener('abort', stop, { once: true });
  if (options.signal?.aborted === true) stop();
  try {
    const executor = await createGraphExecutor({ ...bound, storage, runId, lease: lease.grant });
    return await driveThroughPauses(executor, options, halt.signal);
  } finally {
    options.signal?.removeEventListener('abort', stop);
    await lease.release();
  }
}

/** Drives on for as long as somebody answers. */
async function driveThroughPauses(
  executor: GraphExecutor,
  options: RunFlowOptions,
  signal: AbortSignal,
): Promise<RunResult> {
  for (;;) {
    const result = await driveToRest(executor, signal);
    if (result.kind !== 'pause' || options.onPause === undefined) return result;
    let answered = false;
    for (const pause of result.pauses) {
      answered = (await options.onPause(pause, executor)) || answered;
    }
    if (!answered) return result;
  }
}

function notComplete(runId: string, result: Exclude<RunResult, { kind: 'complete' }>): Error {
  if (result.kind === 'fail') {
    const details = { runId, failureCode: result.code };
    const code = isErrorCode(result.code) ? result.code : 'NODE_FAILED';
    return new HoldfastError(code, `Run ${runId} failed: ${result.message}`, details);
  }
  const pauses = result.kind === 'pause' ? result.pauses : [];
  const ids = pauses.map(({ pauseId }) => pauseId).join(', ');
  return new HoldfastError(
    'FLOW_PAUSED',
    `Run ${runId} is paused${ids === '' ? '' : `; open: ${ids}`}. Answer it, then call again.`,
    { runId, pauses },
  );
}
