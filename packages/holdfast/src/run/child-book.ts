/** The runs that stand for attempts of this one, and the node that each was started for. */

type SavedChildren = readonly (readonly [runId: string, nodeId: string])[];

export class ChildBook {
  readonly #nodes: Map<string, string>;

  constructor(saved: SavedChildren = []) {
    this.#nodes = new Map(saved);
  }

  get isEmpty(): boolean {
    return this.#nodes.size === 0;
  }

  add(runId: string, nodeId: string): void {
    this.#nodes.set(runId, nodeId);
  }

  /** Each with its node, in the order in which they were started. */
  all(): SavedChildren {
    return [...this.#nodes];
  }
}
