/** Follows the stream of a run and tells a presenter of every event, the moment it is durable. */
import type { EventEnvelope, RunStorage } from 'holdfast';
import { RunViewFold } from 'holdfast/views';
import type { Presenter } from '../render/presenter.ts';

/** Shows what is recorded, then what comes; resolves with the way to stop. */
export async function watchRun(
  storage: RunStorage,
  runId: string,
  presenter: Presenter,
): Promise<() => void> {
  const stream = { namespace: storage.record.namespace, streamId: runId };
  const fold = new RunViewFold(runId);
  for await (const envelope of storage.eventStore.read(stream)) fold.apply(envelope);
  const view = fold.view();
  presenter.begin(view);
  return storage.eventStore.subscribe(stream, view.sequence, (events) => {
    for (const envelope of events) tell(envelope);
  });

  function tell(envelope: EventEnvelope): void {
    presenter.event(envelope, fold.apply(envelope));
  }
}
