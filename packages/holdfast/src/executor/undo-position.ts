/** Positions that a cancel decides to take work back: no others may be called so. */

export const UNDO_PREFIX = 'undo/';

/** True for a position of compensation. */
export function isUndoPosition(position: string): boolean {
  return position.startsWith(UNDO_PREFIX);
}
