/**
 * One incarnation of a process. When it dies everything it was doing stops where it is: its
 * promises never settle, its timers never fire, its store handle does nothing any more.
 */
import type { Clock, Timer } from '../base/ports.ts';

/** What a wait for a process gives when the process died first. */
export const DEAD = 'dead';

export class SimProcess {
  readonly name: string;
  readonly clock: Clock;
  /** Whether it only answers and sends, and drives nothing. */
  readonly isOnlooker: boolean;
  readonly #world: Clock;
  #alive = true;
  #frozenUntilMs = 0;
  #onDeath: (() => void)[] = [];

  constructor(name: string, world: Clock, isOnlooker: boolean) {
    this.name = name;
    this.isOnlooker = isOnlooker;
    this.#world = world;
    this.clock = {
      now: () => world.now(),
      after: (delayMs, callback) => this.#after(delayMs, callback),
      soon: (callback) => {
        this.#after(0, callback);
      },
    };
  }

  get isAlive(): boolean {
    return this.#alive;
  }

  /** Whether it has ever been late in what it does. */
  get hasStoodStill(): boolean {
    return this.#frozenUntilMs > 0;
  }

  kill(): void {
    if (!this.#alive) return;
    this.#alive = false;
    for (const callback of this.#onDeath.splice(0)) callback();
  }

  /** Nothing that waits for time or for the store goes on before `ms` have passed. */
  freeze(ms: number): void {
    this.#frozenUntilMs = Math.max(this.#frozenUntilMs, this.#world.now() + ms);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#after(ms, resolve);
    });
  }

  /** A promise that settles as `work` does, later if the process is frozen, never if it is dead. */
  guard<Value>(work: () => Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (!this.#alive) return;
      work().then(
        (value) => this.#deliver(() => resolve(value)),
        (error: unknown) => this.#deliver(() => reject(error)),
      );
    });
  }

  /** What `work` gives, or `DEAD` if the process dies before. */
  outlived<Value>(work: Promise<Value>): Promise<Value | typeof DEAD> {
    if (!this.#alive) return Promise.resolve(DEAD);
    return new Promise((resolve, reject) => {
      this.#onDeath.push(() => resolve(DEAD));
      work.then(resolve, reject);
    });
  }

  #after(delayMs: number, callback: () => void): Timer {
    let timer = this.#world.after(delayMs, () => {
      if (!this.#alive) return;
      const frozenMs = this.#frozenUntilMs - this.#world.now();
      if (frozenMs <= 0) callback();
      else timer = this.#after(frozenMs, callback);
    });
    return { cancel: () => timer.cancel() };
  }

  #deliver(settle: () => void): void {
    if (!this.#alive) return;
    if (this.#frozenUntilMs <= this.#world.now()) settle();
    else this.#after(0, settle);
  }
}
