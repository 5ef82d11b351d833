/**
 * The share of the event loop that reads may take: a host that opens hundreds of runs at once
 * reads for a few milliseconds in each turn of the loop, and everything else goes on between.
 */

/** After this time the next read waits for the next turn of the event loop. */
const SHARE_MS = 2;

export interface ReadShareOptions {
  /** Milliseconds from any fixed moment. */
  readonly elapsed: () => number;
  /** Calls back in the next turn of the event loop. */
  readonly soon: (callback: () => void) => void;
}

export class ReadShare {
  readonly #options: ReadShareOptions;
  /** When the first read of this turn began. */
  #begun: number | null = null;
  #waiting: (() => void)[] = [];

  constructor(options: ReadShareOptions) {
    this.#options = options;
  }

  /** Resolves in the next turn of the event loop; whoever came first goes first. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Whether a read has to wait for `next`; if not, it must begin at once. */
  get isUsedUp(): boolean {
    const now = this.#options.elapsed();
    if (this.#begun !== null) return now - this.#begun >= SHARE_MS;
    this.#begun = now;
    this.#options.soon(() => {
      this.#begun = null;
      for (const resume of this.#waiting.splice(0)) resume();
    });
    return false;
  }
}
