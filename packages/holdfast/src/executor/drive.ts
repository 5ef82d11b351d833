/** One call of `run` or `resume` in progress: what it waits for and how it ends. */
import type { FailCommand } from '../graph/commands.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { RunResult } from '../run/run-result.ts';
import type { DriveMode } from './drive-mode.ts';
import type { PreflightChecks } from './preflight-gate.ts';
import type { TurnBatch } from './turn-batch.ts';

export class Drive {
  readonly result: Promise<RunResult>;
  mode: DriveMode = 'normal';
  /** Whether its first turn has begun. */
  isStarted = false;
  /** Why the run cannot go on, in mode `failing`. */
  error: unknown = null;
  /** Whether the graph is asked in the next turn. */
  mustDecide = true;
  /** A failure that is recorded once everything in flight has settled. */
  ending: FailCommand | null = null;
  /** What the graph said when it last asked to pause. */
  pauseReason: string | null = null;
  /** Positions that `resume` names and the next turn re-opens. */
  toResume: readonly string[];
  /** Paused positions that are re-opened once a slot is free. */
  deferred: readonly string[] = [];
  #resolve: (result: RunResult) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  readonly #cleanUps: (() => void)[] = [];
  /** The engine checks that come before everything else; null when the plan asks for none. */
  readonly checks: PreflightChecks | null;

  constructor(toResume: readonly string[], checks: PreflightChecks | null = null) {
    this.toResume = toResume;
    this.checks = checks;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Whether it was told to re-open something. */
  get isResuming(): boolean {
    return this.toResume.length > 0 || this.checks?.isResuming === true;
  }

  /** A turn is durable: what it was to re-open is re-opened, or waits for a slot. */
  launched({ machine, deferred }: TurnBatch): void {
    if (this.isHeld(machine.fold)) return;
    this.toResume = [];
    this.deferred = deferred;
  }

  /** True while nothing of the graph may start or be re-opened. */
  isHeld(fold: RunFold): boolean {
    return this.checks?.isHolding(fold) === true;
  }

  onEnd(cleanUp: () => void): void {
    this.#cleanUps.push(cleanUp);
  }

  resolve(result: RunResult): void {
    this.#end();
    this.#resolve(result);
  }

  reject(error: unknown): void {
    this.#end();
    this.#reject(error);
  }

  #end(): void {
    for (const cleanUp of this.#cleanUps.splice(0)) cleanUp();
  }
}

/** Throws `PROTOCOL` beside another drive, and `ABORTED` for a signal that is aborted already. */
export function requireIdle(current: Drive | null, signal: AbortSignal | undefined): void {
  if (current !== null) {
    throw new GraphExecutionError('PROTOCOL', 'This executor is running already.');
  }
  if (signal?.aborted) throw new GraphExecutionError('ABORTED', 'The run was halted.');
}
