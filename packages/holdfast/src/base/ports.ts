/** Ports to the world outside: time, chance, fresh identifiers. Nothing else may reach for them. */

/** A pending timer; cancelling it twice does nothing. */
export interface Timer {
  cancel(): void;
}

/** Time and scheduling. Every wait and every deferred turn in the library goes through it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `callback` once, at least `delayMs` later; any non-negative delay is allowed. */
  after(delayMs: number, callback: () => void): Timer;
  /** Calls `callback` after the current turn of the event loop. */
  soon(callback: () => void): void;
}

/** A source of numbers in [0, 1). */
export interface Random {
  next(): number;
}

/** Fresh identifiers for things that have no position yet (runs, owners). */
export interface Ids {
  next(): string;
}
