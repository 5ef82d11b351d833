/**
 * Finds many forms in one pass over text (Aho and Corasick): a state knows the longest form that
 * ends here, and how much of the text may still become one.
 */

/** The state before any text. */
export const START = 0;

const UNITS = 0x10000;

export class SecretAutomaton {
  /** State and next unit to state; only the ways down. */
  readonly #down = new Map<number, number>();
  /** Where to go on when no way leads down: the longest other beginning of a form. */
  readonly #fallback: number[] = [START];
  readonly #depth: number[] = [0];
  /** The length of the longest form that ends in a state, or 0. */
  readonly #ends: number[] = [0];
  readonly #isLeaf: boolean[] = [true];
  #found = 0;

  constructor(forms: readonly string[]) {
    const byDepth: { readonly state: number; readonly parent: number; readonly unit: number }[][] =
      [];
    for (const form of forms) {
      let state = START;
      for (let place = 0; place < form.length; place += 1) {
        const unit = form.charCodeAt(place);
        const known = this.#down.get(state * UNITS + unit);
        if (known === undefined) {
          const added = this.#add(state, unit);
          byDepth[place] ??= [];
          byDepth[place]?.push({ state: added, parent: state, unit });
        }
        state = known ?? this.#fallback.length - 1;
      }
      this.#ends[state] = form.length;
    }
    for (const { state, parent, unit } of byDepth.flat()) this.#link(state, parent, unit);
  }

  /** The state after one more UTF-16 unit; `found` then says which form has ended with it. */
  step(state: number, unit: number): number {
    let next = this.#next(state, unit);
    this.#found = this.#ends[next] as number;
    // A whole form that begins no longer one need not be held back.
    while (next !== START && this.#isLeaf[next]) next = this.#fallback[next] as number;
    return next;
  }

  /** The length of the longest form that ended with the last step, or 0. */
  get found(): number {
    return this.#found;
  }

  /** How many of the last units may be the beginning of a form: fewer than the longest has. */
  pending(state: number): number {
    return this.#depth[state] as number;
  }

  #add(parent: number, unit: number): number {
    const state = this.#fallback.length;
    this.#down.set(parent * UNITS + unit, state);
    this.#isLeaf[parent] = false;
    this.#fallback.push(START);
    this.#depth.push((this.#depth[parent] as number) + 1);
    this.#ends.push(0);
    this.#isLeaf.push(true);
    return state;
  }

  /** States are linked by depth: those that a fallback leads to are linked already. */
  #link(state: number, parent: number, unit: number): void {
    const fallback = parent === START ? START : this.#next(this.#fallback[parent] as number, unit);
    this.#fallback[state] = fallback;
    if (this.#ends[state] === 0) this.#ends[state] = this.#ends[fallback] as number;
  }

  #next(state: number, unit: number): number {
    for (let from = state; ; from = this.#fallback[from] as number) {
      const down = this.#down.get(from * UNITS + unit);
      if (down !== undefined) return down;
      if (from === START) return START;
    }
  }
}
