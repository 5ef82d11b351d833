/**
 * What an action policy may say of an attempt. Policies are the host's code, often plain
 * JavaScript: whatever they return is read with care, and only once.
 */
import { HoldfastError } from '../base/errors.ts';
import { cloneFrozenJson, isJsonObject } from '../base/json.ts';
import { isIsoTime } from '../base/time.ts';
import type { ActionDecision } from './binding.ts';

const MAX_SHOWN_LENGTH = 200;

/** The decision that `returned` is. Throws an `ACTION_POLICY` that shows what else it is. */
export function readActionDecision(returned: unknown): ActionDecision {
  if (typeof returned !== 'object' || returned === null) {
    return refuse(returned, 'It must return { kind: "allow" | "wait" | "deny" }');
  }
  const { kind, reason, request }: { kind?: unknown; reason?: unknown; request?: unknown } =
    returned;
  if (kind === 'allow') return { kind };
  if (kind !== 'deny' && kind !== 'wait') {
    return refuse(returned, 'Its kind must be allow, wait or deny');
  }
  if (typeof reason !== 'string') return refuse(returned, `A ${kind} needs a reason, as text`);
  return kind === 'deny' ? { kind, reason } : { kind, reason, request: readRequest(request) };
}

function readRequest(given: unknown) {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return refuse(given, 'A wait needs a request, as an object', 'the request');
  }
  const request = cloneFrozenJson(given);
  if (!isJsonObject(request)) return refuse(given, 'A request must be an object', 'the request');
  const dueAt = request['dueAt'];
  if (dueAt !== undefined && !isIsoTime(dueAt)) {
    return refuse(dueAt, 'It must be a moment such as 2026-11-30T10:00:00.000Z', 'dueAt');
  }
  return request;
}

function refuse(given: unknown, wanted: string, what = 'its answer'): never {
  const text = JSON.stringify(given) ?? String(given);
  // Whole or not at all: half a secret is no longer found.
  const shown = text.length > MAX_SHOWN_LENGTH ? `${text.length} characters of JSON` : text;
  throw new HoldfastError('ACTION_POLICY', `${what} was ${shown}. ${wanted}.`);
}
