/** `holdfast/views`: read models over a run's events; safe in a browser. */
export type { EventEnvelope, StreamRef } from './history/envelope.ts';
export {
  type OccurrencePause,
  type OccurrenceStatus,
  type OccurrenceView,
  type RunView,
  RunViewFold,
  type RunViewStatus,
  type StepView,
  viewRun,
} from './views/run-view.ts';
