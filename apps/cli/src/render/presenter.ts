/** How a run that is being driven is shown: live, as plain lines, or not at all. */
import type { EventEnvelope, LogLine } from 'holdfast';
import type { OccurrenceView, RunView } from 'holdfast/views';

export interface Presenter {
  /** A run begins to be driven; the view is what was recorded before. */
  begin(view: RunView): void;
  /** An event became durable; `occurrence` is what it changed. */
  event(envelope: EventEnvelope, occurrence: OccurrenceView | null): void;
  log(line: LogLine): void;
  /** A word to the person, such as what Ctrl-C does now. */
  note(text: string): void;
  /** Lets something else be written; what is shown live stands below it. */
  around(write: () => void): void;
  /** Makes room for a question. */
  suspend(): void;
  resume(): void;
  /** The drive is over. */
  end(): void;
}

/** For `--json`: the document at the end says it all. */
export const silentPresenter: Presenter = Object.freeze({
  begin: () => {},
  event: () => {},
  log: () => {},
  note: () => {},
  around: (write: () => void) => write(),
  suspend: () => {},
  resume: () => {},
  end: () => {},
});
