/** What a storage holds of a run, for the tests of every room. */
import type { EventEnvelope, RunStorage } from 'holdfast';

/** The events of a run. */
export async function eventsOf(
  storage: RunStorage,
  runId: string,
): Promise<readonly EventEnvelope[]> {
  const events: EventEnvelope[] = [];
  const stream = { namespace: storage.record.namespace, streamId: runId };
  for await (const event of storage.eventStore.read(stream)) events.push(event);
  return events;
}

/** Event types without `graph:`, in order. */
export function typesOf(events: readonly EventEnvelope[]): readonly string[] {
  return events.map(({ type }) => type.replace(/^graph:/, ''));
}
