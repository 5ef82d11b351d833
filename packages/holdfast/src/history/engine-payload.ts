/** Checks of what events hold about engines: identities, usage, failures. */
import { ENGINE_FAILURE_KINDS } from '../base/engine-failure.ts';
import { isJsonObject } from '../base/json.ts';
import {
  exact,
  oneOf,
  type PayloadCheck,
  positiveInteger,
  text,
  wholeNumber,
} from './payload-check.ts';

/** Null, or what `check` accepts. */
export function nullable(check: PayloadCheck): PayloadCheck {
  return (value) => (value === null ? null : check(value));
}

const name = nullable(text);

export const engineIdentity: PayloadCheck = exact({
  adapter: text,
  provider: name,
  modelFamily: name,
  model: name,
});

export const failureKind: PayloadCheck = oneOf(...ENGINE_FAILURE_KINDS);

const unknownUsage = exact({ kind: oneOf('unknown') });
const reportedUsage = exact(
  { kind: oneOf('reported'), inputTokens: wholeNumber, outputTokens: wholeNumber },
  { cacheCreationInputTokens: wholeNumber, cacheReadInputTokens: wholeNumber },
);

export const usageReceipt: PayloadCheck = (value) =>
  isJsonObject(value) && value['kind'] === 'reported' ? reportedUsage(value) : unknownUsage(value);

const fromAttempt = exact({ kind: oneOf('attempt'), sequence: positiveInteger });
const fromPreflight = exact({ kind: oneOf('preflight'), probeEventId: text, laneId: text });

/** What proved a lane dead. */
export const unavailabilitySource: PayloadCheck = (value) =>
  isJsonObject(value) && value['kind'] === 'preflight' ? fromPreflight(value) : fromAttempt(value);
