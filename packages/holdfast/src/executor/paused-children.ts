/** The child runs that a run waits for: those that its end leaves behind are ended by its owner. */
import type { RunFold } from '../run/run-fold.ts';

/** The ids of the child runs whose pause, or whose sleep, a position of this run shares. */
export function pausedChildren(fold: RunFold): readonly string[] {
  const runIds: string[] = [];
  for (const { pause } of fold.positions.with('paused')) {
    const runId = pause?.request.kind === 'child' ? pause.request['runId'] : null;
    if (typeof runId === 'string') runIds.push(runId);
  }
  return runIds;
}
