/**
 * One position as the simulation's own reading of a log has it. It is written apart from the
 * library's fold, from the words of the design, so that one can be wrong without the other.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { EventEnvelope } from '../history/envelope.ts';

export type SimStatus = 'queued' | 'running' | 'paused' | 'settled';

export interface SimPause {
  readonly pauseId: string;
  readonly kind: string;
  readonly request: JsonObject;
  /** Whether somebody has said that the attempt may go on. */
  allowed: boolean;
}

export interface SimStep {
  status: 'started' | 'completed' | 'failed';
  /** The attempt it was last recorded in. */
  position: string;
}

export interface SimPosition {
  readonly nodeId: string;
  readonly position: string;
  /** The first position of the occurrence. */
  readonly first: string;
  readonly notBefore: string | null;
  status: SimStatus;
  retrySafe: boolean;
  /** Start records and resumes: how often its code may have been entered. */
  launches: number;
  /** How often a person has allowed it to run again. */
  retries: number;
  pause: SimPause | null;
  dueAt: string | null;
  abandoned: boolean;
  /** The writer of its last start or resume. */
  owner: string | null;
}

/** A position as its dispatch leaves it. */
export function dispatchedPosition(payload: JsonObject): SimPosition {
  const position = textOf(payload['position']);
  const { retryOf, notBefore } = payload;
  return {
    nodeId: textOf(payload['nodeId']),
    position,
    first: typeof retryOf === 'string' ? retryOf : position,
    notBefore: typeof notBefore === 'string' ? notBefore : null,
    status: 'queued',
    retrySafe: false,
    launches: 0,
    retries: 0,
    pause: null,
    dueAt: null,
    abandoned: false,
    owner: null,
  };
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function isUndo({ position }: SimPosition): boolean {
  return position.startsWith('undo/');
}

export function payloadOf({ payload }: EventEnvelope): JsonObject {
  return isJsonObject(payload) ? payload : {};
}

/** Whether an answer to a policy's question allows what was asked about. */
export function allows({ answer }: JsonObject): boolean {
  return isJsonObject(answer) && answer['decision'] === 'allow';
}
