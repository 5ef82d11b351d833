/** What `resume` is told: positions, or the pause of the engine checks. */
import { GraphExecutionError } from '../run/run-error.ts';
import type { PreflightResume } from './executor.ts';

export type ResumeTarget = string | readonly string[] | PreflightResume;

/** What a drive re-opens: positions, or the pause of the engine checks. */
export interface Resumed {
  readonly positions: readonly string[];
  readonly preflightEventId: string | null;
}

/** What `run` re-opens. */
export const NOTHING_RESUMED: Resumed = Object.freeze({ positions: [], preflightEventId: null });

/** Throws `INVALID_OPTION` for what names neither. */
export function resumed(target: ResumeTarget): Resumed {
  if (typeof target === 'string') return { positions: [target], preflightEventId: null };
  if (isList(target)) return { positions: [...target], preflightEventId: null };
  return { positions: [], preflightEventId: preflightIdOf(target) };
}

function isList(target: readonly string[] | PreflightResume): target is readonly string[] {
  return Array.isArray(target);
}

/** What else stands in the object, hidden or inherited, was meant for something else. */
function preflightIdOf(target: PreflightResume): string {
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
