/** `runFlow`: stores, runs and resumes a flow in a directory of this machine. */

import { createLocalRunStorage } from '../../adapters/sqlite/storage.ts';
import { digestJson } from '../../base/digest.ts';
import { isErrorCode } from '../../base/error-codes.ts';
import { HoldfastError, isHoldfastError } from '../../base/errors.ts';
import { cloneFrozenJson, type JsonValue } from '../../base/json.ts';
import { requireObject } from '../../base/option.ts';
import type { Clock } from '../../base/ports.ts';
import type { GraphExecutor } from '../../executor/executor.ts';
import type { LogLine } from '../../executor/options.ts';
import { isChildRunId } from '../../executor/run-names.ts';
import { startRun } from '../../executor/start-run.ts';
import { flowGraphType } from '../../forms/flow.ts';
import { flowDefinition } from '../../forms/flow-definition.ts';
import { compileGraph } from '../../graph/compile.ts';
import type { CodeNodes, DefinedFlow, FlowOutput } from '../../nodes/flow/define-flow.ts';
import { type FlowNodesOptions, flowNodes } from '../../nodes/flow/flow-nodes.ts';
import type { PauseView, RunPaused } from '../../run/run-result.ts';
import { defaultStoragePolicy, type RunStoragePolicy } from '../../store/policy.ts';
import type { RunStorage } from '../../store/storage.ts';
import type { BoundRun } from './bound-run.ts';
import { type DrivenRun, type DriveRunOptions, driveRun } from './drive-run.ts';

/** Where a flow is stored, which flows its subflows name, and who answers its pauses. */
export interface RunFlowOptions extends FlowNodesOptions {
  /** Where runs are stored; `.holdfast` by default. */
  readonly directory?: string;
  /** How much a run may store; `defaultStoragePolicy` by default. */
  readonly policy?: RunStoragePolicy;
  /** Text that must never be stored, in no form; live only. */
  readonly knownSecrets?: readonly string[];
  /**
   * Stores the runs in place of a directory, and stays open. It has its own policy and secrets:
   * beside it `directory`, `policy` and `knownSecrets` are refused.
   */
  readonly storage?: RunStorage;
  /** Times delays, deadlines, retries and leases; the machine's clock by default. */
  readonly clock?: Clock;
  /** Told of every line that node code logs. */
  readonly onLog?: (line: LogLine) => void;
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
 * another process drives the run, `ABORTED`, `INVALID_OPTION`, and storage codes.
 *
 * @example const { nodes } = await runFlow(flow, { name: 'Ada' });
 */
export async function runFlow<Nodes extends CodeNodes>(
  defined: DefinedFlow<Nodes>,
  input: JsonValue,
  options: RunFlowOptions = {},
): Promise<FlowOutput<Nodes>> {
  requireObject('flow', defined);
  requireObject('options', options);
  const bound = {
    graph: compileGraph(flowGraphType, flowDefinition(defined.flow)),
    nodes: flowNodes(defined.flow, defined.functions, options),
  };
  const storage = storageOf(options);
  try {
    const runId = await openRunOf(storage, bound, {
      input: cloneFrozenJson(input),
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    });
    const driven = await driveRun(storage, bound, { runId, ...driveOptions(options) });
    return outputOf(driven) as unknown as FlowOutput<Nodes>;
  } finally {
    if (options.storage === undefined) await storage.close();
  }
}

const OWN_STORAGE_OPTIONS = ['directory', 'policy', 'knownSecrets'] as const;

/** The storage given, or one of a directory. Throws `INVALID_OPTION` when both are asked for. */
function storageOf(options: RunFlowOptions): RunStorage {
  const { storage, directory = '.holdfast', knownSecrets, clock } = options;
  const { policy = defaultStoragePolicy } = options;
  if (storage === undefined) {
    return createLocalRunStorage({
      directory,
      namespace: LOCAL_NAMESPACE,
      policy,
      ...(knownSecrets === undefined ? {} : { knownSecrets }),
      ...(clock === undefined ? {} : { clock }),
    });
  }
  const option = OWN_STORAGE_OPTIONS.find((name) => options[name] !== undefined);
  if (option === undefined) return storage;
  throw new HoldfastError(
    'INVALID_OPTION',
    `runFlow was given both storage and ${option}: the storage that is given has its own. Give ` +
      `${option} to the storage, or leave storage out.`,
    { option },
  );
}

function driveOptions(options: RunFlowOptions): Omit<DriveRunOptions, 'runId'> {
  const { signal, onPause, clock, onLog } = options;
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(clock === undefined ? {} : { clock }),
    ...(onLog === undefined ? {} : { onLog }),
    ...(onPause === undefined ? {} : { onPaused: (paused, run) => askAll(paused, run, onPause) }),
  };
}

/** True when at least one pause was answered. */
async function askAll(
  { pauses }: RunPaused,
  executor: GraphExecutor,
  onPause: NonNullable<RunFlowOptions['onPause']>,
): Promise<boolean> {
  let answered = false;
  for (const pause of pauses) answered = (await onPause(pause, executor)) || answered;
  return answered;
}

/** The newest unfinished run of this flow and input, or a new one. */
async function openRunOf(
  storage: RunStorage,
  bound: BoundRun,
  { input, ...timed }: { readonly input: JsonValue; readonly clock?: Clock },
): Promise<string> {
  const runIdPrefix = prefixOf(bound, input);
  const { runs } = await storage.runIndex.list({ runIdPrefix }, { limit: 1_000 });
  const own = runs.filter(({ runId }) => !isChildRunId(runId));
  const open = own.find(({ status }) => status === 'running' || status === 'paused');
  if (open !== undefined) return open.runId;
  // A kill between a run's end and its successor's start leaves the ended run due.
  const [newest] = own;
  if (newest?.status === 'complete' && newest.wakeAt !== null) return newest.runId;
  const numbers = own.map(({ runId }) => Number.parseInt(runId.slice(runIdPrefix.length), 10));
  const runId = `${runIdPrefix}${Math.max(0, ...numbers) + 1}`;
  try {
    await startRun(storage, { runId, graph: bound.graph, input, ...timed });
  } catch (error) {
    // A call at the same time has started it: its lease says who drives it.
    if (!isHoldfastError(error, 'SEQUENCE_CONFLICT')) throw error;
  }
  return runId;
}

function prefixOf(bound: BoundRun, input: JsonValue): string {
  const { value, digest } = bound.graph.definition;
  const name = value.id.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 64);
  const key = digestJson([digest, input]).slice('sha256:'.length).slice(0, 16);
  return `${/^[A-Za-z0-9]/.test(name) ? name : `flow${name}`}-${key}-`;
}

/** The output of a complete run; anything else is thrown. */
function outputOf({ runId, result }: DrivenRun): JsonValue {
  if (result.kind === 'complete') return result.output;
  if (result.kind === 'fail') {
    const details = { runId, failureCode: result.code };
    const code = isErrorCode(result.code) ? result.code : 'NODE_FAILED';
    throw new HoldfastError(code, `Run ${runId} failed: ${result.message}`, details);
  }
  const pauses = result.kind === 'pause' ? result.pauses : [];
  const ids = pauses.map(({ pauseId }) => pauseId).join(', ');
  throw new HoldfastError(
    'FLOW_PAUSED',
    `Run ${runId} is paused${ids === '' ? '' : `; open: ${ids}`}. Answer it, then call again.`,
    { runId, pauses },
  );
}
