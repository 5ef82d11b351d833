/** One call of `run` or `resume` in progress: what it waits for and how it ends. */
import type { FailCommand } from '../graph/commands.ts';
import type { RunResult } from '../run/run-result.ts';

/**
 * `normal` · `halting`: the caller's signal was aborted · `draining`: a shutdown · `failing`: the
 * executor cannot go on. Only `normal` asks the graph and starts attempts.
 */
export type DriveMode = 'normal' | 'halting' | 'draining' | 'failing';

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

  constructor(toResume: readonly string[]) {
    this.toResume = toResume;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
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
