/** Checks an event before graph code sees it. */
import { textFault } from '../base/identifier.ts';
import { cloneFrozenJson, isFrozenJson, type JsonValue } from '../base/json.ts';
import type { GraphEvent } from './graph-type.ts';
import { isPositiveInteger, shown } from './shape-check.ts';
import { type GraphIssue, GraphValidationError, jsonIssue } from './validation-error.ts';

/**
 * A frozen event with exactly `type`, `version` and `payload`; the caller's stays as it is.
 * A payload that was frozen before is not walked again.
 *
 * Throws `GraphValidationError` with `code` (`INVALID_GRAPH_TYPE` by default).
 */
export function frozenEvent(event: unknown, code = 'INVALID_GRAPH_TYPE'): GraphEvent {
  return plainEvent(event) ?? checkedEvent(event, code);
}

/** Nearly every event: three fields, each as it should be, and a payload that was frozen before. */
function plainEvent(event: unknown): GraphEvent | null {
  if (typeof event !== 'object' || event === null) return null;
  const { type, version, payload } = event as Partial<GraphEvent>;
  if (typeof payload !== 'object' || payload === null || !isFrozenJson(payload)) return null;
  if (textFault(type) !== null || !isPositiveInteger(version)) return null;
  if (Object.keys(event).length !== 3) return null;
  if (isFrozenJson(event)) return event as GraphEvent;
  return Object.freeze({ type: type as string, version: version as number, payload });
}

function checkedEvent(event: unknown, code: string): GraphEvent {
  const issues: GraphIssue[] = [];
  const note = (path: string, message: string): void => {
    issues.push({ code, path: `/event${path}`, message });
  };
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    note('', `expected an event, found ${shown(event)}`);
    throw new GraphValidationError('Invalid graph event.', issues);
  }
  const { type, version, payload } = event as Partial<GraphEvent>;
  const fault = textFault(type);
  if (fault !== null) note('/type', fault);
  if (!isPositiveInteger(version))
    note('/version', `expected an integer from 1, found ${shown(version)}`);
  for (const name of Object.keys(event)) {
    if (name !== 'type' && name !== 'version' && name !== 'payload') {
      note(`/${name}`, 'an event has exactly type, version and payload');
    }
  }
  const frozen = frozenPayload(payload, code, issues);
  if (issues.length > 0) throw new GraphValidationError('Invalid graph event.', issues);
  return isFrozenJson(event)
    ? (event as GraphEvent)
    : Object.freeze({ type: type as string, version: version as number, payload: frozen });
}

function frozenPayload(payload: unknown, code: string, issues: GraphIssue[]): JsonValue {
  try {
    return cloneFrozenJson(payload);
  } catch (error) {
    issues.push(jsonIssue(error, '/event/payload', code));
    return null;
  }
}
