/**
 * Taking back what a cancelled run has done.
 *
 * Invariants: one undo is open at most; the last completed occurrence comes first; a failed undo is
 * noted and passed over. Positions are `undo/<position>`, and `undo/<position>~<n>` where a halt
 * stopped the undo before: a position ends in a digit, so that both can be told apart.
 */
import type { JsonObject } from '../base/json.ts';
import type { FlowUndoState, UndoableRun } from './flow-state.ts';

const UNDO = 'undo/';

/** True for a position of an undo. */
export function isUndoPosition(position: string): boolean {
  return position.startsWith(UNDO);
}

export interface NextUndo {
  readonly run: UndoableRun;
  readonly position: string;
}

/** What an event did: nothing, something, or it took this run back. */
export type UndoStep = 'ignored' | 'noted' | UndoableRun;

/** The completed occurrences that can be taken back, and the undo at hand. */
export class UndoStack {
  readonly #runs: UndoableRun[];
  #open: string | null;
  #attempt: number;
  #failed: FlowUndoState['failed'];

  constructor({ runs, open, attempt, failed }: FlowUndoState) {
    this.#runs = [...runs];
    this.#open = open;
    this.#attempt = attempt;
    this.#failed = failed;
  }

  push(run: UndoableRun): void {
    this.#runs.push(run);
  }

  /** The undo that is to be decided now, or null: none is left, or one is in flight. */
  next(): NextUndo | null {
    const run = this.#runs.at(-1);
    if (run === undefined || this.#open !== null) return null;
    const again = this.#attempt === 1 ? '' : `~${this.#attempt}`;
    return { run, position: `${UNDO}${run.position}${again}` };
  }

  apply(type: string, payload: JsonObject): UndoStep {
    const { position } = payload;
    if (type === 'node-dispatched') {
      const next = this.next();
      if (next === null || next.position !== position) return 'ignored';
      this.#open = next.position;
      return 'noted';
    }
    if (this.#open === null || this.#open !== position) return 'ignored';
    if (type === 'node-completed') return this.#settle() ?? 'noted';
    return type === 'node-failed' ? this.#failedWith(this.#open, payload) : 'ignored';
  }

  state(): FlowUndoState {
    return {
      runs: [...this.#runs],
      open: this.#open,
      attempt: this.#attempt,
      failed: this.#failed,
    };
  }

  #failedWith(position: string, { code, retryable }: JsonObject): UndoStep {
    if (code === 'ABORTED' && retryable === true) {
      this.#open = null;
      this.#attempt += 1;
      return 'noted';
    }
    this.#failed = [...this.#failed, { position, code: String(code) }];
    this.#settle();
    return 'noted';
  }

  #settle(): UndoableRun | undefined {
    this.#open = null;
    this.#attempt = 1;
    return this.#runs.pop();
  }
}
