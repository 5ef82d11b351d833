/**
 * The loop: take what wants to be recorded, fold it, ask the graph once, append everything as one
 * batch, and only then start what it started.
 *
 * Invariants: one append at a time; node code runs only after its start record is durable; nobody
 * is told of an outcome before it is durable; after a conflict a decision is made again and an
 * outcome is written again only if its attempt is still this owner's.
 */
import type { Attempt } from '../attempt/attempt.ts';
import type { AttemptOutcome } from '../attempt/outcome.ts';
import { MerkleDigest } from '../base/digest.ts';
import { isHoldfastError } from '../base/errors.ts';
import type { PositionRecord } from '../run/position-record.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { RunResult } from '../run/run-result.ts';
import type { RunIndexUpdate } from '../store/run-index.ts';
import { type Advanced, type AdvanceOptions, advance } from './advance.ts';
import { AttemptFactory } from './attempt-factory.ts';
import { CancelPlan } from './cancel-plan.ts';
import { ChildRuns } from './child-runs.ts';
import { conclude } from './conclude.ts';
import { Drive, requireIdle } from './drive.ts';
import { pauseText } from './end-text.ts';
import { ForeignPositions, ownershipLost } from './foreign-positions.ts';
import { IndexRow } from './index-row.ts';
import { LiveAttempts } from './live-attempts.ts';
import { OpenChildren } from './open-children.ts';
import type { ExecutorSettings } from './options.ts';
import { OutcomeItem, type OutcomeListener, ownRecord } from './outcome-item.ts';
import { PreflightGate } from './preflight-gate.ts';
import { type DecisionLimits, fullBatchBytes } from './record-decision.ts';
import type { Resumed } from './resume-target.ts';
import { endPayload, recordedEnd, resultOf } from './run-end.ts';
import { RunLog } from './run-log.ts';
import type { TurnBatch } from './turn-batch.ts';
import { AwaitedItem, LookItem, type TurnItem, takeItems, writeItems } from './turn-item.ts';
import { WakeTimer } from './wake-timer.ts';

/** What a turn has written; when graph code could not fold it, the turn is made again. */
type Written = Advanced & { readonly failure?: unknown; readonly isUnfoldable?: true };

export class Driver {
  readonly children: ChildRuns;
  readonly openChildren: OpenChildren;
  readonly #settings: ExecutorSettings;
  readonly #limits: DecisionLimits;
  readonly #attempts: AttemptFactory;
  readonly #advance: AdvanceOptions;
  readonly #gate: PreflightGate;
  readonly #live: LiveAttempts;
  readonly #cancel: CancelPlan;
  readonly #foreign = new ForeignPositions();
  readonly #index = new IndexRow();
  readonly #queue: TurnItem[] = [];
  readonly #outcomes: OutcomeListener = {
    recorded: (attempt) => this.#live.remove(attempt),
    recordable: (record, outcome) => this.#attempts.recordable(record, outcome),
    lost: (attempt, error) => {
      this.#live.remove(attempt);
      this.#fail(error);
    },
  };
  #log: RunLog | null = null;
  #drive: Drive | null = null;
  #turning = false;
  /** Whether another turn was asked for while one was made. */
  #isOwed = false;
  /** What a child run has met: the next turn stops with it. */
  #fault: { readonly error: unknown } | null = null;
  #scheduled = false;
  /** The greatest sequence that the store has told of. */
  #seen = 0;
  readonly #wake: WakeTimer;

  constructor(settings: ExecutorSettings) {
    this.#settings = settings;
    const { clock, hash, storage, maxDispatches, stream, maxConcurrentAttempts } = settings;
    this.#limits = {
      digest: new MerkleDigest(hash),
      maxBatchBytes: fullBatchBytes(storage),
      maxDispatches,
      pauseText: (reason) => pauseText(reason, storage),
    };
    this.#live = new LiveAttempts(clock);
    this.#gate = new PreflightGate(settings, (item) => this.submit(item));
    this.#wake = new WakeTimer(clock, () => this.#schedule());
    this.#cancel = new CancelPlan({
      live: this.#live,
      wake: () => this.#schedule(),
      leave: (position) => this.#foreign.leave(position),
      isChild: (nodeId) => this.#attempts.binding(nodeId).child !== null,
    });
    this.children = new ChildRuns(settings, {
      cancelRequested: () => this.#log?.machine.fold.cancelRequested ?? null,
      handedTo: (position) => this.#log?.machine.fold.signals.handedTo(position) ?? [],
      lost: (record, error) => this.#lost(record, error),
    });
    this.#attempts = new AttemptFactory(settings, {
      fold: () => this.#fold(),
      hasLetGo: () => this.#log === null,
      submit: (item) => this.submit(item),
      settled: (attempt, outcome) => this.#settled(attempt, outcome),
      runChild: (record, child, signal) => this.children.run(record, child, signal),
    });
    this.openChildren = new OpenChildren({
      runId: stream.streamId,
      attempts: this.#attempts,
      children: this.children,
      look: (select) => this.look(select),
    });
    this.#advance = {
      stream,
      hash,
      limits: this.#limits,
      maxConcurrentAttempts,
      live: this.#live,
      foreign: this.#foreign,
      cancel: this.#cancel,
      endingsOf: (nodeId) => this.#attempts.binding(nodeId).endings,
      recordable: (record, outcome) => this.#attempts.recordableEnding(record, outcome),
      isRetrySafe: (nodeId) => this.#attempts.binding(nodeId).retrySafe,
      childRunId: (record) => this.#attempts.childIdOf(record),
    };
  }

  get isDriving(): boolean {
    return this.#drive !== null;
  }

  /** What `select` finds in the run as the log has it, nothing that is not durable. */
  look<Seen>(select: (fold: RunFold) => Seen): Promise<Seen> {
    const item = new LookItem(() => select(this.#fold()));
    this.submit(item);
    return item.seen;
  }

  /** A position's child can go on: its owner re-opens it, now or when it is woken. */
  async childCanGoOn(position: string): Promise<void> {
    const item = new AwaitedItem(512, (batch) => {
      const record = batch.machine.fold.positions.get(position);
      if (record?.pause?.request.kind !== 'child') return;
      if (this.#drive === null) batch.wakesOwner = true;
      else this.#drive.deferred = [...this.#drive.deferred, position];
    });
    this.submit(item);
    await item.done;
  }

  /** Records an item with the next turn. */
  submit(item: TurnItem): void {
    this.#queue.push(item);
    this.#schedule();
  }

  /** Drives the run until it ends, pauses, waits, or `signal` is aborted. */
  async drive(signal: AbortSignal | undefined, resumed: Resumed): Promise<RunResult> {
    requireIdle(this.#drive, signal);
    const drive = new Drive(resumed.positions, this.#gate.checks(resumed.preflightEventId));
    this.#drive = drive;
    const halt = () => this.#halt(drive);
    signal?.addEventListener('abort', halt, { once: true });
    drive.onEnd(() => signal?.removeEventListener('abort', halt));
    drive.onEnd(() => this.#endDrive());
    this.#schedule();
    return drive.result;
  }

  /** Lets what is in flight finish and starts nothing more. */
  async shutdown(): Promise<void> {
    const drive = this.#drive;
    if (drive === null) return;
    if (drive.mode === 'normal') drive.mode = 'draining';
    this.children.shutdown();
    this.#schedule();
    await drive.result.catch(() => undefined);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#settings.clock.soon(() => {
      this.#scheduled = false;
      if (this.#turning) this.#isOwed = true;
      else void this.#turn();
    });
  }

  async #turn(): Promise<void> {
    this.#turning = true;
    this.#isOwed = false;
    const items = takeItems(this.#queue, this.#limits.maxBatchBytes);
    let again = false;
    try {
      this.#throwFault();
      again = await this.#perform(items);
    } catch (error) {
      for (const item of items.splice(0)) item.refused(error);
      this.#fail(error);
    }
    this.#turning = false;
    if (again || this.#isOwed || this.#queue.length > 0 || this.#isBehind) this.#schedule();
  }

  #throwFault(): void {
    const fault = this.#fault;
    this.#fault = null;
    if (fault !== null) throw fault.error;
    if (this.#drive?.mode === 'failing') throw this.#drive.error;
  }

  /** The next turn stops, unless nobody waits for this child any more. */
  #lost(record: PositionRecord, error: unknown): void {
    if (this.#live.get(record.position)?.record === record) this.#stopWith(error);
  }

  #stopWith(error: unknown): void {
    this.#fault ??= { error };
    this.#schedule();
  }

  /** True when the store has told of more than this owner has folded. */
  get #isBehind(): boolean {
    return this.#drive !== null && this.#log !== null && this.#seen > this.#log.end;
  }

  /** One turn; after a lost race the same turn is made again on what the log then says. */
  async #perform(items: TurnItem[]): Promise<boolean> {
    if (items.length === 0 && (await this.#hasEnded())) return false;
    for (;;) {
      // Waiting for what is there already would cost each turn a round of the task queue.
      const log = this.#readyLog() ?? (await this.#beginLog());
      if (this.#mustLookAtChildren(log.machine.fold)) await this.#openChildren(log.machine.fold);
      const batch = log.begin();
      const turn = this.#write(batch, items);
      if (turn.isUnfoldable) {
        await log.reload();
        continue;
      }
      if (turn.end !== null) await this.#writeEnd(batch, turn.end);
      if (!(await this.#commit(log, batch))) continue;
      for (const item of items.splice(0)) item.committed();
      if (turn.failure !== undefined) throw turn.failure;
      this.#launch(batch);
      if (turn.again) return true;
      const next = this.#conclude(batch);
      return typeof next === 'boolean' ? next : await next;
    }
  }

  /** An ended run says again how it ended; no graph code is asked, whatever has become of it. */
  async #hasEnded(): Promise<boolean> {
    const drive = this.#drive;
    if (drive === null || this.#log !== null || drive.isResuming) return false;
    const { storage, stream } = this.#settings;
    const end = await recordedEnd(storage, stream);
    if (end === null) return false;
    await this.#attempts.budgets.ended();
    drive.resolve(await resultOf(end, stream, storage));
    return true;
  }

  /** False when another append came first. */
  async #commit(log: RunLog, batch: TurnBatch): Promise<boolean> {
    const index = batch.isCut ? null : this.#indexUpdate(batch);
    if (batch.isEmpty && (index === null || batch.expected === 0)) return true;
    this.#attempts.budgets.recording(batch.events, batch.machine.fold);
    try {
      await log.commit(batch, index);
      this.#index.committed();
      return true;
    } catch (error) {
      if (!isHoldfastError(error, 'SEQUENCE_CONFLICT')) throw error;
      await log.reload();
      this.#othersWrote(log);
      return false;
    }
  }

  #indexUpdate(batch: TurnBatch): RunIndexUpdate | null {
    const { fold } = batch.machine;
    if (this.#drive !== null) {
      return this.#drive.mode === 'normal'
        ? this.#index.update(fold, batch.at)
        : this.#index.updateStopped(fold, batch.at);
    }
    // Who does not drive the run changes its row only to wake whoever does.
    if (batch.isEmpty && !batch.wakesOwner) return null;
    return this.#index.markDue(fold, batch.at);
  }

  /** The log of a drive under way, when nobody else has written. */
  #readyLog(): RunLog | null {
    return this.#drive?.isStarted === true && !this.#isBehind ? this.#log : null;
  }

  async #beginLog(): Promise<RunLog> {
    const log = await this.#openLog();
    await this.#begin(log);
    return log;
  }

  async #openLog(): Promise<RunLog> {
    if (this.#log === null) {
      this.#log = await RunLog.open({ ...this.#settings, digest: this.#limits.digest });
      this.#foreign.refresh(this.#log.machine.fold, this.#live);
    } else if (this.#drive?.isStarted !== true || this.#seen > this.#log.end) {
      if ((await this.#log.catchUp()).length > 0) this.#othersWrote(this.#log);
    }
    return this.#log;
  }

  /** Takes in what others appended. Throws `OWNERSHIP_LOST` when one of them drives the run. */
  #othersWrote(log: RunLog): void {
    const { fold } = log.machine;
    this.#index.forget();
    this.#attempts.budgets.folded(fold);
    const grown = this.#foreign.refresh(fold, this.#live);
    if (this.#drive === null) return;
    this.#drive.mustDecide = !log.machine.isDecided;
    this.#drive.ending = null;
    if (!this.#drive.isStarted) return;
    for (const attempt of this.#live.all()) ownRecord(fold, attempt.record);
    if (grown || (fold.end !== null && this.#live.size > 0)) {
      throw ownershipLost(fold.runId);
    }
  }

  /** The first turn of a drive listens to the stream and looks whether a child can go on. */
  async #begin(log: RunLog): Promise<void> {
    const drive = this.#drive;
    if (drive === null || drive.isStarted) return;
    drive.isStarted = true;
    drive.mustDecide = !log.machine.isDecided;
    const { storage, stream } = this.#settings;
    this.#seen = log.end;
    this.#foreign.refresh(log.machine.fold, this.#live);
    this.#index.seed(await storage.runIndex.get(stream.streamId));
    drive.onEnd(
      storage.eventStore.subscribe(stream, log.end, (events) => {
        this.#seen = Math.max(this.#seen, events.at(-1)?.sequence ?? 0);
        if (this.#isBehind && !this.#turning) this.#schedule();
      }),
    );
    await this.#attempts.budgets.driveBegins(log.machine.fold);
    await this.#openChildren(log.machine.fold);
    drive.checks?.begin(drive, (error) => {
      if (this.#drive === drive) this.#stopWith(error);
    });
  }

  #nextLookMs(fold: RunFold): number | null {
    return this.#attempts.hasChildren ? this.children.nextLookMs(fold) : null;
  }

  #mustLookAtChildren(fold: RunFold): boolean {
    const nextMs = this.#drive === null ? null : this.#nextLookMs(fold);
    return nextMs !== null && nextMs <= this.#settings.clock.now();
  }

  /** Re-opens the positions whose child can go on. */
  async #openChildren(fold: RunFold): Promise<void> {
    const ready = this.#attempts.hasChildren ? await this.children.ready(fold) : [];
    const drive = this.#drive;
    if (drive !== null) drive.deferred = [...new Set([...drive.deferred, ...ready])];
  }

  /** Writes what the turn holds; `failure` is why graph code could not go on, if it could not. */
  #write(batch: TurnBatch, items: TurnItem[]): Written {
    try {
      if (writeItems(batch, items)) return { end: null, again: false, isUnfoldable: true };
    } catch (failure) {
      return { end: null, again: false, failure };
    }
    if (this.#drive === null) return { end: null, again: false };
    const reported = batch.events.length;
    try {
      return advance(batch, this.#drive, this.#advance);
    } catch (failure) {
      // What has happened is recorded alone, whatever the graph makes of it.
      batch.cutAfter(reported);
      return { end: null, again: false, failure };
    }
  }

  async #writeEnd(batch: TurnBatch, end: NonNullable<Advanced['end']>): Promise<void> {
    const { stream, storage } = this.#settings;
    const payload = await endPayload(end, stream, storage);
    batch.write('graph:run-finished', payload, payload.output ?? null);
  }

  #launch(batch: TurnBatch): void {
    const drive = this.#drive;
    drive?.launched(batch);
    for (const { position, policyAnswered } of batch.launches) {
      const record = batch.machine.fold.positions.get(position);
      if (record?.status !== 'running') continue;
      const attempt = this.#attempts.create(record, policyAnswered);
      this.#live.add(attempt);
      attempt.start();
    }
    if (batch.machine.fold.cancelRequested !== null) this.#cancel.abortLive();
    if (drive !== null && drive.mode === 'halting') this.#abortAll(drive);
  }

  #settled(attempt: Attempt, outcome: AttemptOutcome): void {
    if (this.#drive?.mode === 'failing') {
      this.#live.remove(attempt);
      this.#schedule();
      return;
    }
    this.submit(new OutcomeItem(attempt, outcome, this.#outcomes));
  }

  /** True when another turn is needed at once; a promise only once the run has ended. */
  #conclude(batch: TurnBatch): boolean | Promise<boolean> {
    const drive = this.#drive;
    if (drive === null) return false;
    const { fold } = batch.machine;
    const { clock, maxIdleMs } = this.#settings;
    const next = conclude({
      fold,
      drive,
      liveCount: this.#live.size,
      foreign: this.#foreign.list(fold, this.#live),
      now: clock.now(),
      turnAt: batch.at,
      maxIdleMs,
    });
    switch (next.kind) {
      case 'again':
        return true;
      case 'stay':
        this.#wake.at(next.wakeAtMs, this.#nextLookMs(fold));
        return false;
      case 'ended':
        return this.#resolveEnded(drive, fold);
      case 'halted':
        drive.reject(new GraphExecutionError('ABORTED', 'The run was halted.'));
        return false;
      case 'failed':
        drive.reject(drive.error);
        return false;
      case 'result':
        drive.resolve(next.result);
        return false;
    }
  }

  async #resolveEnded(drive: Drive, fold: RunFold): Promise<boolean> {
    const { stream, storage } = this.#settings;
    if (fold.end !== null) drive.resolve(await resultOf(fold.end, stream, storage));
    return false;
  }

  #halt(drive: Drive): void {
    if (drive.mode === 'failing') return;
    drive.mode = 'halting';
    this.#abortAll(drive);
    this.#schedule();
  }

  /** The executor cannot go on: stop what runs, then reject with `error`. */
  #fail(error: unknown): void {
    this.#log = null;
    const drive = this.#drive;
    if (drive === null) return;
    if (drive.mode !== 'failing') {
      drive.mode = 'failing';
      drive.error = error;
      this.#abortAll(drive);
    }
    if (this.#live.size === 0) drive.reject(drive.error);
  }

  #abortAll(drive: Drive): void {
    drive.checks?.stop();
    for (const attempt of this.#live.all()) {
      this.#live.abort(attempt, 'The run was halted.', (overdue) => {
        // Nothing is recorded of it: for the next process it is uncertain.
        overdue.abandon();
        this.#live.remove(overdue);
        this.#foreign.leave(overdue.record.position);
        if (drive.mode === 'failing' && this.#live.size === 0) drive.reject(drive.error);
        this.#schedule();
      });
    }
  }

  #endDrive(): void {
    this.#drive = null;
    this.#wake.cancel();
    this.#live.letGo();
  }

  #fold(): RunFold {
    if (this.#log !== null) return this.#log.machine.fold;
    throw new GraphExecutionError('OWNERSHIP_LOST', 'The executor has let go of this run.');
  }
}
