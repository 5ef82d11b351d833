/** A growing list of graph events, for writing fixtures and tests. */
import { frozenEvent } from '../graph/graph-event.ts';
import type { GraphEvent } from '../graph/graph-type.ts';

/** `events` is a frozen copy at each reading. */
export interface GraphEventTrace {
  readonly events: readonly GraphEvent[];
  record(event: GraphEvent): GraphEvent;
}

/**
 * A trace that begins with `seed`. `record` copies, freezes and gives back the event.
 *
 * Throws `GraphValidationError` (`INVALID_GRAPH_EVENT`) for what is no graph event.
 *
 * @example
 * const trace = createGraphEventTrace();
 * trace.record({ type: 'node-completed', version: 1, payload: { nodeId: 'draft' } });
 */
export function createGraphEventTrace(seed: readonly GraphEvent[] = []): GraphEventTrace {
  const recorded = seed.map((event) => frozenEvent(event, 'INVALID_GRAPH_EVENT'));
  return Object.freeze({
    get events(): readonly GraphEvent[] {
      return Object.freeze([...recorded]);
    },
    record(event: GraphEvent): GraphEvent {
      const frozen = frozenEvent(event, 'INVALID_GRAPH_EVENT');
      recorded.push(frozen);
      return frozen;
    },
  });
}
