/** How the ids of a run's relatives are made from its own. */
import type { HashText } from '../base/digest.ts';

/** The run that stands for one position of a parent: the same in every process. */
export function childRunId(runId: string, position: string, hash: HashText): string {
  return `${runId}.${hash(position).slice(0, 16)}`;
}

/** True for the id of a child run, or of one that a child continues as. */
export function isChildRunId(runId: string): boolean {
  return /\.[0-9a-f]{16}(\.c\d+)?$/.test(runId);
}

/** True for an id that only a child run or a successor may have. */
export function isRelativeRunId(runId: string): boolean {
  return /\.(?:[0-9a-f]{16}|c\d+)$/.test(runId);
}

/** The run that a run continues as: `run`, `run.c2`, `run.c3` … */
export function successorRunId(runId: string): string {
  const match = /^(.*)\.c(\d+)$/.exec(runId);
  return match === null ? `${runId}.c2` : `${match[1]}.c${Number(match[2]) + 1}`;
}
