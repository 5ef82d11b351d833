/** The names of runs. */
import { randomBytes } from 'node:crypto';
import { HoldfastError } from 'holdfast';

const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Throws `INVALID_ID` for text that no run can be called; it becomes part of file names too. */
export function requireRunId(runId: string): void {
  if (RUN_ID.test(runId)) return;
  throw new HoldfastError(
    'INVALID_ID',
    `${JSON.stringify(runId.slice(0, 80))} is no run id: use 1–128 letters, digits, '.', '_' or ` +
      "'-', beginning with a letter or digit.",
  );
}

/** `greet-mb1x2y3z-4f`: the flow, the time in base 36, chance. */
export function freshRunId(flowId: string, now: number): string {
  return `${runIdPart(flowId)}-${now.toString(36)}-${randomBytes(2).toString('hex')}`;
}

/** Any text as a part of a run id. */
export function runIdPart(text: string): string {
  const part = text
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 48);
  return part === '' ? 'flow' : /^[A-Za-z0-9]/.test(part) ? part : `f${part}`;
}
