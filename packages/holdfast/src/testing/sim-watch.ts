/**
 * Watches whether an owner in good health does what it could do. Only in worlds without faults:
 * elsewhere being late is no fault.
 */
import { isoTime } from '../base/time.ts';
import type { SimHosts } from './sim-host.ts';
import type { SimWorld } from './sim-world.ts';

/** The grace of an attempt that was told to stop, and a second. */
const PATIENCE_MS = 6_000;
/** Later stores make an owner late in all it does. */
const MOST_LATENCY_MS = 50;

export class SimWatch {
  readonly #world: SimWorld;
  readonly #hosts: SimHosts;
  readonly #watches: boolean;
  #since: { readonly what: string; readonly changes: number; readonly atMs: number } | null = null;

  constructor(world: SimWorld, hosts: SimHosts) {
    this.#world = world;
    this.#hosts = hosts;
    const { crashes, crashAt, ioErrors, freezes, halts, shutdowns, owners, latencyMs } =
      world.options;
    const faults = crashes + ioErrors + freezes + halts + shutdowns + owners - 1;
    this.#watches = faults === 0 && crashAt === null && latencyMs <= MOST_LATENCY_MS;
  }

  /** Called after each step of the clock. */
  look(): void {
    if (!this.#watches) return;
    const what = this.#undone();
    const { changes } = this.#hosts;
    const nowMs = this.#world.clock.now();
    if (what === null) this.#since = null;
    else if (this.#since?.what !== what || this.#since.changes !== changes) {
      this.#since = { what, changes, atMs: nowMs };
    } else if (nowMs - this.#since.atMs > PATIENCE_MS) {
      this.#world.violate(`for ${nowMs - this.#since.atMs} ms ${what}`);
    }
  }

  /** What waits in a run that is driven now. */
  #undone(): string | null {
    if (this.#hosts.current() === null) return null;
    const now = isoTime(this.#world.clock.now());
    for (const run of this.#world.record.all()) {
      const what = this.#world.record.hasRoom(run.runId) ? run.undone(now) : null;
      if (what !== null) return `${run.runId} ${what}`;
    }
    return null;
  }
}
