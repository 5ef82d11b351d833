/** What `resume` is told: positions, or the pause of the engine checks. */
import { GraphExecutionError } from '../run/run-error.ts';
import type { PreflightResume } from './executor.ts';

export type ResumeTarget = string | readonly string[] | PreflightResume;

/** The positions to re-open, and the pause to end. Throws `INVALID_OPTION`. */
export function resumed(
  target: ResumeTarget,
): [positions: readonly string[], preflightEventId: string | null] {
  if (typeof target === 'string') return [[target], null];
  if (isList(target)) return [[...target], null];
  return [[], preflightEventId(target)];
}

function isList(target: readonly string[] | PreflightResume): target is readonly string[] {
  return Array.isArray(target);
}

/** What else stands in the object, hidden or inherited, was meant for something else. */
function preflightEventId(target: PreflightResume): string {
  const isObject = typeof target === 'object' && target !== null;
  const keys = isObject ? Reflect.ownKeys(target) : [];
  const { preflightEventId: id } = isObject ? target : { preflightEventId: undefined };
  const isExact = keys.length === 1 && keys[0] === 'preflightEventId';
  if (isExact && typeof id === 'string') return id;
  throw new GraphExecutionError(
    'INVALID_OPTION',
    'resume takes a position, a list of positions, or { preflightEventId } with that one key.',
    { option: 'target' },
  );
}
