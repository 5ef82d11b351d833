/**
 * What the pause of a parent holds of the pauses of its child. Whole while that fits; the rest is
 * left out and counted: whoever lists them reads the child's record.
 */
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { PauseView } from '../run/run-result.ts';

/** What stands in the request of the parent's pause. */
export interface HeldPauses extends JsonObject {
  readonly pauses: JsonValue;
  /** How many of them are left out. */
  readonly morePauses?: number;
}

/** As many of `pauses`, from the first on, as fit `maxBytes`; none that is not harmless. */
export function heldPauses(
  pauses: readonly PauseView[],
  rule: { readonly maxBytes: number; readonly isHarmless: (pause: PauseView) => boolean },
): HeldPauses {
  const held: PauseView[] = [];
  let bytes = 0;
  for (const pause of pauses) {
    bytes += Buffer.byteLength(JSON.stringify(pause)) + 1;
    if (bytes > rule.maxBytes) break;
    if (rule.isHarmless(pause)) held.push(pause);
  }
  const left = pauses.length - held.length;
  return {
    pauses: held as unknown as JsonValue,
    ...(left === 0 ? {} : { morePauses: left }),
  };
}

/** Whether the request of a parent's pause leaves some of its child's pauses out. */
export function leavesPausesOut(request: JsonObject): boolean {
  return request['kind'] === 'child' && typeof request['morePauses'] === 'number';
}
