/**
 * The engine checks of an executor: nothing of the graph starts before they are done. Seed 002,
 * "Check the engines".
 *
 * Invariants: one check at a time; each is recorded before it begins and after it ends, by the same
 * queue as everything else; what comes next is asked of the run's fold, never remembered here; a
 * process checks every seat itself once, whatever earlier ones have found.
 */
import type {
  LiveStep,
  PreflightPause,
  PreflightStep,
  StaticStep,
} from '../run/preflight/preflight-step.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { RunPaused } from '../run/run-result.ts';
import type { DriveMode } from './drive-mode.ts';
import type { ExecutorSettings } from './options.ts';
import { PreflightProbe } from './preflight-probe.ts';
import {
  type StagedCheck,
  writePreflightFailed,
  writePreflightResumed,
  writeProbeFinished,
  writeProbeStarted,
} from './preflight-record.ts';
import type { TurnBatch } from './turn-batch.ts';
import { AwaitedItem, nudge, type TurnItem } from './turn-item.ts';

/** The drive that the checks are made for. */
export interface CheckedDrive {
  readonly mode: DriveMode;
}

/** A generous bound of what one check writes, in bytes. */
const CHECK_BYTES = 8_192;

type Begun = { readonly probeEventId: string; readonly step: StaticStep | LiveStep };

export class PreflightGate {
  readonly settings: ExecutorSettings;
  /** Records an item with the next turn. */
  readonly submit: (item: TurnItem) => void;
  readonly probe: PreflightProbe;
  /** The round of static checks that this executor has begun. */
  round: string | null = null;

  constructor(settings: ExecutorSettings, submit: (item: TurnItem) => void) {
    this.settings = settings;
    this.submit = submit;
    this.probe = new PreflightProbe(settings);
  }

  /** The checks of one drive; null when the plan asks for none. */
  checks(resumed: string | null): PreflightChecks | null {
    if (this.settings.lanes.plan.preflight !== undefined) return new PreflightChecks(this, resumed);
    if (resumed !== null) throw noChecks(resumed);
    return null;
  }
}

export class PreflightChecks {
  readonly #gate: PreflightGate;
  readonly #resumed: string | null;
  readonly #stop = new AbortController();
  #state: 'due' | 'busy' | 'over' = 'due';
  #isAdmitted = false;
  #pause: RunPaused | null = null;

  constructor(gate: PreflightGate, resumed: string | null) {
    this.#gate = gate;
    this.#resumed = resumed;
  }

  /** True when this drive ends a pause of the checks. */
  get isResuming(): boolean {
    return this.#resumed !== null;
  }

  /** What `run` returns when the checks are paused. */
  get pause(): RunPaused | null {
    return this.#pause;
  }

  /** True while a check may still record its end. */
  get isBusy(): boolean {
    return this.#state === 'busy';
  }

  /** True while nothing of the graph may start. A cancelled run needs no checks. */
  isHolding({ cancelRequested }: RunFold): boolean {
    if (cancelRequested !== null) this.stop();
    return this.isBusy || !(this.#isAdmitted || cancelRequested !== null);
  }

  /** Cuts the check short that is being made: it ends as interrupted. */
  stop(): void {
    this.#stop.abort();
  }

  /** Makes the checks; the drive goes on, pauses or ends by what they come to. */
  begin(drive: CheckedDrive, fail: (error: unknown) => void): void {
    if (this.#state !== 'due') return;
    this.#state = 'busy';
    this.#make(drive)
      .catch(fail)
      .finally(() => {
        this.#state = 'over';
        // One turn more, which goes on with what the checks have come to.
        if (drive.mode !== 'failing') this.#gate.submit(nudge);
      });
  }

  async #make(drive: CheckedDrive): Promise<void> {
    if (this.#resumed !== null) await this.#resume(this.#resumed);
    for (;;) {
      const next = await this.#next(drive);
      if (next === null) return;
      if ('step' in next) await this.#check(next);
      else if (this.#isEnd(next)) return;
    }
  }

  async #resume(preflightEventId: string): Promise<void> {
    await this.#record((batch) => writePreflightResumed(batch, preflightEventId));
  }

  /** Begins the next check; else says what there is instead, or null when the drive is over. */
  async #next(drive: CheckedDrive): Promise<Begun | PreflightStep | null> {
    let next: Begun | PreflightStep | null = null;
    let { round } = this.#gate;
    await this.#record((batch) => {
      const { fold } = batch.machine;
      const isOver = fold.cancelRequested !== null || fold.end !== null;
      next = drive.mode !== 'normal' || isOver ? null : fold.preflight.next(this.#gate.round);
      if (next === null) return;
      if (next.kind === 'no-target') writePreflightFailed(batch, next.laneId);
      if (next.kind !== 'static' && next.kind !== 'live') return;
      const { selection } = this.#gate.settings.engines.seat(next.target);
      const probeEventId = writeProbeStarted(batch, next, selection);
      next = { probeEventId, step: next };
      round = fold.preflight.round;
    });
    this.#gate.round = round;
    return next;
  }

  async #check({ probeEventId, step }: Begun): Promise<void> {
    const { storage } = this.#gate.settings;
    const checked = await this.#outcome(probeEventId, step);
    await this.#record((batch) => writeProbeFinished(batch, { probeEventId, checked, storage }));
  }

  async #outcome(probeEventId: string, step: StaticStep | LiveStep): Promise<StagedCheck> {
    const { settings, probe } = this.#gate;
    const timeoutMs = settings.lanes.plan.preflight?.timeoutMs ?? 0;
    const seat = settings.engines.seat(step.target);
    const begun = { probeEventId, seat, timeoutMs, stop: this.#stop.signal };
    return step.kind === 'static'
      ? { stage: 'static', ...(await probe.checkStatic({ ...begun, step })) }
      : { stage: 'live', ...(await probe.checkLive({ ...begun, step })) };
  }

  /** Whether no check follows. Throws `PROTOCOL` for a check that a dead process has left open. */
  #isEnd(step: PreflightStep): boolean {
    switch (step.kind) {
      case 'admitted':
        this.#isAdmitted = true;
        return true;
      case 'paused':
        this.#pause = pauseResultOf(step);
        return true;
      case 'unfinished':
        throw unfinished(step.probeEventId);
      default:
        return true;
    }
  }

  async #record(write: (batch: TurnBatch) => void): Promise<void> {
    const item = new AwaitedItem(CHECK_BYTES, write);
    this.#gate.submit(item);
    await item.done;
  }
}

function pauseResultOf(pause: PreflightPause): RunPaused {
  const { preflightEventId, message: reason } = pause;
  return { kind: 'pause', code: 'PREFLIGHT_PAUSED', preflightEventId, reason, pauses: [] };
}

function unfinished(probeEventId: string): GraphExecutionError {
  return new GraphExecutionError(
    'PROTOCOL',
    `Engine check ${probeEventId} was begun and never ended. Once the process that began it is ` +
      'dead, close it with interruptRunPreflight(storage, runId), then resume the pause.',
    { probeEventId },
  );
}

function noChecks(named: string): GraphExecutionError {
  return new GraphExecutionError(
    'RESUME_EVENT_MISMATCH',
    'The plan asks for no engine checks, so none is paused by ' +
      `${JSON.stringify(named.slice(0, 200))}.`,
    { named, open: null },
  );
}
