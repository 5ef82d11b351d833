/**
 * Positions that another process started and that nobody has settled: either that process is dead,
 * or it owns the run.
 */
import { GraphExecutionError } from '../run/run-error.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { LiveAttempts } from './live-attempts.ts';
import type { TurnBatch } from './turn-batch.ts';

/** The error of an owner that finds another at work. */
export function ownershipLost(runId: string): GraphExecutionError {
  return new GraphExecutionError(
    'OWNERSHIP_LOST',
    `Another process drives run ${runId}; this one has stopped.`,
  );
}

const NONE: readonly string[] = Object.freeze([]);

export class ForeignPositions {
  #positions = new Set<string>();

  /** Looks again after reading what others wrote. True when another has started something since. */
  refresh(fold: RunFold, live: LiveAttempts): boolean {
    const before = this.#positions;
    this.#positions = new Set();
    let grown = false;
    for (const { position } of fold.positions.with('running')) {
      if (live.has(position)) continue;
      this.#positions.add(position);
      grown ||= !before.has(position);
    }
    return grown;
  }

  /** This owner has let go of an attempt of its own: from now on it is anybody's. */
  leave(position: string): void {
    this.#positions.add(position);
  }

  /** True while one of them still runs as far as the batch goes; the batch's own do not count. */
  someRun(batch: TurnBatch): boolean {
    if (this.#positions.size === 0) return false;
    const launching = new Set(batch.launches.map(({ position }) => position));
    return this.#running(batch.machine.fold).some((position) => !launching.has(position));
  }

  /** Those that still run, in dispatch order, without the ones that run here now. */
  list(fold: RunFold, live: LiveAttempts): readonly string[] {
    if (this.#positions.size === 0) return NONE;
    return this.#running(fold).filter((position) => !live.has(position));
  }

  #running(fold: RunFold): string[] {
    return [...this.#positions].filter(
      (position) => fold.positions.get(position)?.status === 'running',
    );
  }
}
