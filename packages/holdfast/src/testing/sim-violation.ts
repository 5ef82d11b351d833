/** What a simulation finds wrong. */
import type { EventEnvelope } from '../history/envelope.ts';

/** A rule that the library has broken. */
export class SimViolation extends Error {
  override readonly name = 'SimViolation';
}

/** The violation of `rule` by an event of a run. */
export function violationOf(runId: string, event: EventEnvelope, rule: string): SimViolation {
  const shown = JSON.stringify(event.payload).slice(0, 200);
  return new SimViolation(`run ${runId}, event ${event.sequence} ${event.type} ${shown}: ${rule}`);
}
