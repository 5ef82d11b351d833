/** How far a run is, node by node, grown from its events. */
import type { FlowFile } from 'holdfast';
import type { OccurrenceView, RunView } from 'holdfast/views';
import { flowLayout, type LayoutRow } from './flow-layout.ts';
import type { NodeState } from './node-text.ts';

export interface NodeProgress {
  /** Its newest occurrence. */
  readonly occurrence: OccurrenceView;
  /** How many occurrences it has had. */
  readonly runs: number;
  /** The line that its code logged last. */
  readonly log: string | null;
}

export class RunProgress {
  readonly #rows: LayoutRow[];
  readonly #known: Set<string>;
  readonly #nodes = new Map<string, NodeProgress>();
  readonly #positions = new Map<string, Set<string>>();

  /** Without a flow the nodes stand in the order in which they were dispatched. */
  constructor(flow: FlowFile | null) {
    this.#rows = flow === null ? [] : [...flowLayout(flow)];
    this.#known = new Set(this.#rows.map(({ nodeId }) => nodeId));
  }

  static of(flow: FlowFile | null, view: RunView): RunProgress {
    const progress = new RunProgress(flow);
    for (const occurrence of view.occurrences) progress.apply(occurrence);
    return progress;
  }

  get rows(): readonly LayoutRow[] {
    return this.#rows;
  }

  apply(occurrence: OccurrenceView): void {
    const { nodeId, position } = occurrence;
    if (!this.#known.has(nodeId)) {
      this.#known.add(nodeId);
      this.#rows.push({ nodeId, type: '', guide: '', label: null });
    }
    const positions = this.#positions.get(nodeId) ?? new Set();
    this.#positions.set(nodeId, positions.add(position));
    const log = occurrence.endedAt === null ? (this.#nodes.get(nodeId)?.log ?? null) : null;
    this.#nodes.set(nodeId, { occurrence, runs: positions.size, log });
  }

  log(nodeId: string, message: string): void {
    const node = this.#nodes.get(nodeId);
    if (node !== undefined) this.#nodes.set(nodeId, { ...node, log: message });
  }

  node(nodeId: string): NodeProgress | null {
    return this.#nodes.get(nodeId) ?? null;
  }

  state(nodeId: string, isOver: boolean): NodeState {
    return this.#nodes.get(nodeId)?.occurrence.status ?? (isOver ? 'skipped' : 'pending');
  }

  /** How many nodes have ended at least once, of all. */
  counts(): { readonly ended: number; readonly all: number } {
    const ended = [...this.#nodes.values()].filter(({ occurrence }) => occurrence.endedAt !== null);
    return { ended: ended.length, all: this.#rows.length };
  }
}
