/**
 * Runs that stand for an attempt of this one: started with it, stored beside it, resumed and
 * cancelled with it. A child's pauses are listed by its parent and answered through it. A child
 * that continues as new goes on in its successors: the last one's end is the attempt's outcome.
 */
import type { ChildRun } from '../attempt/binding.ts';
import { PauseAttempt } from '../attempt/binding.ts';
import { NodeFailure } from '../attempt/outcome.ts';
import { quietly } from '../attempt/quietly.ts';
import { errorText, isHoldfastError } from '../base/errors.ts';
import { freezeJson, type JsonValue } from '../base/json.ts';
import { type IsoTime, isoTime } from '../base/time.ts';
import type { PositionRecord } from '../run/position-record.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { RunPaused, RunResult } from '../run/run-result.ts';
import type { SignalMessage } from '../run/signal-box.ts';
import { SecretScreen } from '../store/known-secrets.ts';
import type { RunStorage } from '../store/storage.ts';
import { heldPauses } from './child-pauses.ts';
import type { ChildExecutor, GraphExecutor } from './executor.ts';
import type { ExecutorSettings } from './options.ts';
import { pausedChildren } from './paused-children.ts';
import { maxResultBytes } from './result-limit.ts';
import { childRunId, successorRunId } from './run-names.ts';
import { startRelative } from './start-run.ts';
import { lastStoredOf, settleRow, startSuccessor } from './successor.ts';

/** How often an owner that is busy otherwise looks at its paused children. */
const LOOK_MS = 1_000;

/** What a run refuses for the message, not for its own state. */
const LOST = ['RESULT_INVALID', 'KNOWN_SECRET', 'STORAGE_LIMIT_EXCEEDED'] as const;

/** A child on its way to be driven; `runId` is its last successor. */
interface DrivenChild {
  readonly record: PositionRecord;
  readonly child: ChildRun;
  readonly runId: string;
  readonly executor: ChildExecutor;
}

/** The parent of child runs, as far as it concerns them. */
export interface ParentRun {
  /** What its cancel says, once it was asked for. */
  readonly cancelRequested: () => RunFold['cancelRequested'];
  /** The messages that the child run of this position is to have, oldest first. */
  readonly handedTo: (position: string) => readonly SignalMessage[];
  /** Nobody knows how a child stands: that is no outcome of its node, so the parent stops. */
  readonly lost: (record: PositionRecord, error: unknown) => void;
}

export class ChildRuns {
  readonly #settings: ExecutorSettings;
  readonly #parent: ParentRun;
  /** What is driven here, by the run that stands for its position. */
  readonly #live = new Map<string, ChildExecutor>();
  /** Pauses of engine checks that are to be ended, by the position of their child. */
  readonly #checks = new Map<string, string>();
  #lookedAtMs = 0;

  constructor(settings: ExecutorSettings, parent: ParentRun) {
    this.#settings = settings;
    this.#parent = parent;
  }

  /** The run that stands for this position, the first of its successors: always the same. */
  idOf(position: string): string {
    return childRunId(this.#settings.stream.streamId, position, this.#settings.hash);
  }

  /**
   * Runs a child to its output, or to a pause that its parent shares. Throws `NodeFailure` when the
   * child has failed or cannot be stored.
   */
  async run(
    record: PositionRecord,
    child: ChildRun,
    signal: AbortSignal,
  ): Promise<JsonValue | PauseAttempt> {
    const first = this.idOf(record.position);
    let runId = first;
    try {
      runId = (await lastStoredOf(this.#settings.storage, first)) ?? first;
      let executor = await this.#open(runId, child);
      for (;;) {
        this.#live.set(first, executor);
        await this.#handOn({ record, child, runId, executor });
        const result = await this.#drive(executor, signal, this.#takeChecks(record.position));
        const next = await this.#successorOf(runId, child, result);
        if (next === null) return this.#outcomeOf(result, runId, record);
        runId = next;
        executor = await this.#settings.childExecutor(runId, child);
      }
    } catch (error) {
      // A halt leaves the child where it is: the next owner re-opens the position.
      if (signal.aborted && isHoldfastError(error, 'ABORTED')) return this.#sleeping(runId);
      if (!(error instanceof NodeFailure)) this.#parent.lost(record, error);
      throw error;
    } finally {
      this.#live.delete(first);
    }
  }

  /**
   * Gives a child what it was sent through its parent and has not received, nor any run that it
   * continues. What it cannot fold is lost: only its sender could mend it.
   */
  async #handOn({ record, child, runId, executor }: DrivenChild): Promise<void> {
    for (const { name, payload, signalId } of this.#parent.handedTo(record.position)) {
      if (await this.#wasReceived(signalId, { record, child, runId })) continue;
      try {
        await executor.signal(name, payload, { signalId });
      } catch (error) {
        const code = LOST.find((each) => isHoldfastError(error, each));
        if (code === undefined) throw error;
        const { nodeId, position } = record;
        const message = `Run ${runId} cannot take signal ${signalId}: ${code}.`;
        const line = { runId: this.#settings.stream.streamId, nodeId, position, message };
        quietly(() => this.#settings.onLog(line));
      }
    }
  }

  async #wasReceived(
    signalId: string,
    { record, child, runId }: Omit<DrivenChild, 'executor'>,
  ): Promise<boolean> {
    for (let each = this.idOf(record.position); each !== runId; each = successorRunId(each)) {
      const earlier = await this.#settings.childExecutor(each, child);
      if (await earlier.hasSignal(signalId)) return true;
    }
    return false;
  }

  /** The next drive of the child at `position` ends this pause of its engine checks. */
  resumeChecks(position: string, preflightEventId: string): void {
    this.#checks.set(position, preflightEventId);
  }

  /** What a drive has not come to is no wish of the next one. */
  forgetChecks(): void {
    this.#checks.clear();
  }

  #takeChecks(position: string): string | null {
    const preflightEventId = this.#checks.get(position) ?? null;
    this.#checks.delete(position);
    return preflightEventId;
  }

  /** The executor of a child that is stored: the one that drives it here, or a new one. */
  async openStored(position: string, child: ChildRun): Promise<ChildExecutor | null> {
    const first = this.idOf(position);
    const live = this.#live.get(first);
    if (live !== undefined) return live;
    const runId = await lastStoredOf(this.#settings.storage, first);
    return runId === null ? null : this.#settings.childExecutor(runId, child);
  }

  /** The run in which a child that has ended goes on, stored; null when it does not. */
  async #successorOf(runId: string, child: ChildRun, result: RunResult): Promise<string | null> {
    if (result.kind !== 'complete') return null;
    const { storage, clock } = this.#settings;
    const { output } = result;
    try {
      return await startSuccessor(storage, { runId, graph: child.graph, output, clock });
    } catch (error) {
      throw unstored(runId, error);
    }
  }

  async #open(runId: string, child: ChildRun): Promise<ChildExecutor> {
    const { storage, clock } = this.#settings;
    if ((await storage.runIndex.get(runId)) === null) {
      try {
        await startRelative(storage, { runId, ...child, clock });
      } catch (error) {
        if (!isHoldfastError(error, 'SEQUENCE_CONFLICT')) throw unstored(runId, error);
      }
    }
    return this.#settings.childExecutor(runId, child);
  }

  shutdown(): void {
    for (const executor of this.#live.values()) void executor.shutdown();
  }

  /**
   * When paused children are looked at next (ms since the epoch); null while none is paused. What
   * others write to a child's stream tells its parent nothing.
   */
  nextLookMs(fold: RunFold): number | null {
    for (const { pause } of fold.positions.with('paused')) {
      if (pause?.request.kind === 'child') return this.#lookedAtMs + LOOK_MS;
    }
    return null;
  }

  /** Paused positions whose child can go on: the one kind of pause that a host re-opens. */
  async ready(fold: RunFold): Promise<readonly string[]> {
    const { clock, storage } = this.#settings;
    const paused = [...fold.positions.with('paused')]
      .filter(({ pause }) => pause?.request.kind === 'child')
      .map(({ position, pause }) => ({
        position,
        first: this.idOf(position),
        waiting: pause?.request['runId'],
      }));
    this.#lookedAtMs = clock.now();
    if (paused.length === 0) return [];
    // One that has failed is due for its own children: its parent can do nothing for them.
    const due = (await storage.runIndex.due(isoTime(clock.now()))).flatMap(({ runId, status }) =>
      status === 'fail' ? [] : [runId],
    );
    const ready: string[] = [];
    for (const { position, first, waiting } of paused) {
      // Its successors and their children carry its id before their own.
      const isDue = due.some((each) => each === first || each.startsWith(`${first}.`));
      const runId = typeof waiting === 'string' ? waiting : first;
      const row = isDue ? null : await storage.runIndex.get(runId);
      if (row?.status !== 'paused') ready.push(position);
    }
    return ready;
  }

  #outcomeOf(result: RunResult, runId: string, record: PositionRecord): JsonValue | PauseAttempt {
    switch (result.kind) {
      case 'complete':
        return result.output;
      case 'fail':
        throw new NodeFailure(result.code, `Run ${runId}: ${result.message}`);
      case 'pause':
        return this.#pauseOf(result, runId, record);
      case 'waiting':
        return this.#sleeping(runId, result.wakeAt);
    }
  }

  #pauseOf(paused: RunPaused, runId: string, record: PositionRecord): PauseAttempt {
    const { reason, pauses, wakeAt, preflightEventId } = paused;
    const { storage } = this.#settings;
    const screen = SecretScreen.of(storage.knownSecrets);
    const held = heldPauses(pauses, {
      maxBytes: maxResultBytes(storage.record.policy, record) / 2,
      isHarmless: (pause) => screen?.foundInJson(JSON.stringify(pause)) !== true,
    });
    const due = wakeAt === undefined ? {} : { dueAt: wakeAt };
    const checks = preflightEventId === undefined ? {} : { preflightEventId };
    return new PauseAttempt(
      reason,
      freezeJson({ kind: 'child', runId, ...held, ...due, ...checks }),
    );
  }

  /** A child that was stopped could go on at once: so can its parent. */
  #sleeping(runId: string, wakeAt?: IsoTime): PauseAttempt {
    const dueAt = wakeAt ?? isoTime(this.#settings.clock.now());
    return new PauseAttempt('The child run sleeps.', freezeJson({ kind: 'child', runId, dueAt }));
  }

  /** A parent's cancel cancels the child; its halt only halts it. */
  async #drive(
    executor: GraphExecutor,
    signal: AbortSignal,
    preflightEventId: string | null,
  ): Promise<RunResult> {
    const halt = new AbortController();
    let untold: { readonly error: unknown } | null = null;
    const stop = async () => {
      const cancel = this.#parent.cancelRequested();
      if (cancel === null) return halt.abort();
      try {
        await executor.cancel({ by: cancel.by, reason: cancel.reason });
      } catch (error) {
        untold = { error };
        halt.abort();
      }
    };
    if (signal.aborted) await stop();
    else signal.addEventListener('abort', stop, { once: true });
    try {
      return await driveToRest(executor, halt.signal, preflightEventId);
    } catch (error) {
      throw untold === null ? error : (untold as { readonly error: unknown }).error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}

/** What a run that has failed is asked about the child runs that it has left open. */
export interface LeftChildren {
  readonly storage: RunStorage;
  readonly look: <Seen>(select: (fold: RunFold) => Seen) => Promise<Seen>;
  readonly openChildren: {
    readonly owning: (runId: string) => Promise<{ readonly executor: GraphExecutor } | null>;
  };
}

/**
 * An executor that cancels, once its run has failed, the child runs that were paused or asleep
 * then: nobody else would ever end them. Its index row stays due until all have ended, so that a
 * host finds it after a crash; whoever runs it again tries again what did not succeed.
 */
export function endingChildren(executor: ChildExecutor, parent: LeftChildren): ChildExecutor {
  const ended = async (result: RunResult, signal?: AbortSignal): Promise<RunResult> => {
    if (result.kind !== 'fail') return result;
    const left = await parent.look(pausedChildren);
    let areEnded = left.length > 0;
    for (const runId of left) {
      areEnded = (await endLeft(parent, { runId, by: executor.runId, signal })) && areEnded;
    }
    if (areEnded) await settleRow(parent.storage, executor.runId);
    return result;
  };
  return Object.freeze({
    ...executor,
    run: async (signal?: AbortSignal) => ended(await executor.run(signal), signal),
    resume: async (positions: string | readonly string[], signal?: AbortSignal) =>
      ended(await executor.resume(positions, signal), signal),
  });
}

interface LeftChild {
  readonly runId: string;
  /** The run that has left it. */
  readonly by: string;
  readonly signal: AbortSignal | undefined;
}

/** What says nothing of a child, but that nobody here can end it now. */
const STOPPED = ['STORE_IO', 'STORE_BUSY', 'OWNERSHIP_LOST', 'ABORTED'] as const;

/**
 * Whether the child has ended: it may be without its code here, or wait for somebody itself. The
 * parent's end stands, and is told unless this owner must stop.
 */
async function endLeft(parent: LeftChildren, { runId, by, signal }: LeftChild): Promise<boolean> {
  try {
    const child = await parent.openChildren.owning(runId);
    if (child === null) return true;
    await child.executor.cancel({ by, reason: `Run ${by} has failed.` });
    const { kind } = await driveToRest(child.executor, signal);
    return kind === 'complete' || kind === 'fail';
  } catch (error) {
    // What stops this owner is told, and the next one ends it; else it stays open.
    if (STOPPED.some((code) => isHoldfastError(error, code))) throw error;
    return false;
  }
}

/**
 * Runs, and resumes what a dead process left in flight, until the run ends or pauses. With the id
 * of a pause of the run's engine checks it ends that pause first.
 */
export async function driveToRest(
  executor: Pick<GraphExecutor, 'run' | 'resume'>,
  signal?: AbortSignal,
  preflightEventId: string | null = null,
): Promise<RunResult> {
  let result =
    preflightEventId === null
      ? await executor.run(signal)
      : await executor.resume({ preflightEventId }, signal);
  while (result.kind === 'waiting' && result.positions.length > 0) {
    result = await executor.resume(result.positions, signal);
  }
  return result;
}

/** A run that no store would take has failed; a store that is in trouble is no run's failure. */
function unstored(runId: string, error: unknown): unknown {
  if (isHoldfastError(error, 'STORE_IO') || isHoldfastError(error, 'STORE_BUSY')) return error;
  const code = isHoldfastError(error) ? error.code : 'EFFECT_FAILED';
  return new NodeFailure(code, `Run ${runId} cannot be stored: ${errorText(error)}`);
}
