/**
 * Every event type a run's stream may hold: the one list that guards and groups derive from.
 *
 * Invariants: a payload has exactly the keys its entry names; time that a fold needs stands in the
 * payload, since graph code sees no envelope.
 */

import type { Sha256Digest } from '../base/digest.ts';
import type { EngineFailureKind } from '../base/engine-failure.ts';
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import type { JsonValue } from '../base/json.ts';
import type { IsoTime } from '../base/time.ts';
import type { UsageReceipt } from '../base/usage.ts';
import {
  engineIdentity,
  failureKind,
  nullable,
  unavailabilitySource,
  usageReceipt,
} from './engine-payload.ts';
import {
  boolean,
  digest,
  exact,
  falseOnly,
  isoTime,
  json,
  oneOf,
  type PayloadCheck,
  pauseRequest,
  positiveInteger,
  string,
  text,
  trueOnly,
} from './payload-check.ts';
import {
  type PreflightPayloads,
  preflightFailed,
  preflightPaused,
  preflightResumed,
  probeFinished,
  probeStarted,
} from './preflight-payload.ts';

/** Names one attempt: the same position is always the same attempt. */
export interface AttemptIdentity {
  readonly namespace: string;
  readonly streamId: string;
  readonly nodeId: string;
  readonly position: string;
  readonly attemptId: Sha256Digest;
}

/** What a pause waits for. `kind` decides who may end it and how. */
export interface PauseRequest {
  /** `reconcile-attempt`, `approval`, `signal`, `policy`, `child`, or the host's own. */
  readonly kind: string;
  /** When the pause ends by itself. */
  readonly dueAt?: IsoTime;
  readonly [key: string]: JsonValue;
}

/** What proved a lane dead: a recorded call of a position, or a preflight probe. */
export type UnavailabilitySource =
  | { readonly kind: 'attempt'; readonly sequence: number }
  | { readonly kind: 'preflight'; readonly probeEventId: string; readonly laneId: string };

export interface EventPayloads extends PreflightPayloads {
  'graph:run-started': { readonly definition: JsonValue };
  'graph:node-dispatched': {
    readonly nodeId: string;
    readonly position: string;
    readonly inputDigest: Sha256Digest;
    /** The sequence of the last event folded before `decide` was asked. */
    readonly decidedAt: number;
    readonly at: IsoTime;
    readonly notBefore?: IsoTime;
    readonly retryOf?: string;
  };
  'graph:node-attempt-started': {
    readonly identity: AttemptIdentity;
    readonly retrySafe: boolean;
    /** The run that stands for the attempt, where one does. */
    readonly childRunId?: string;
  };
  'graph:node-step-started': {
    readonly position: string;
    readonly step: string;
    readonly retrySafe: boolean;
  };
  'graph:node-step-recorded': {
    readonly position: string;
    readonly step: string;
    readonly result?: JsonValue;
    readonly code?: string;
    readonly message?: string;
    /** Beside a code: false when no policy may try the attempt again. */
    readonly retryable?: false;
  };
  /** One engine call. Nobody knows what an interrupted one came to: both identities are null. */
  'graph:engine-attempt-recorded': {
    readonly nodeId: string;
    readonly position: string;
    /** Place among the calls of this position, from 1. */
    readonly sequence: number;
    readonly requested: GraphEngineIdentity | null;
    readonly effective: GraphEngineIdentity | null;
    readonly usage: UsageReceipt;
    readonly failure?: EngineFailureKind;
  };
  /** A lane is proven dead. `reported` is null when the engine named none. */
  'graph:model-unavailable': {
    readonly nodeId?: string;
    readonly position?: string;
    readonly selected: GraphEngineIdentity;
    readonly reported: GraphEngineIdentity | null;
    readonly failure: EngineFailureKind;
    readonly source: UnavailabilitySource;
  };
  'graph:node-completed': {
    readonly nodeId: string;
    readonly position: string;
    readonly result: JsonValue;
    readonly signalId?: string;
    readonly at: IsoTime;
  };
  'graph:node-failed': {
    readonly nodeId: string;
    readonly position: string;
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
    readonly abandoned?: true;
    readonly at: IsoTime;
  };
  'graph:node-paused': {
    readonly nodeId: string;
    readonly position: string;
    readonly reason: string;
    readonly request: PauseRequest;
    readonly at: IsoTime;
  };
  'graph:node-resumed': {
    readonly nodeId: string;
    readonly position: string;
    readonly at: IsoTime;
    /** The message that is handed to the child run of this position. */
    readonly signalId?: string;
  };
  'graph:pause-answered': {
    readonly pauseId: string;
    readonly position: string;
    readonly answer: JsonValue;
    readonly by: string;
  };
  'graph:attempt-reconciled': {
    readonly pauseId: string;
    readonly position: string;
    readonly attemptId: Sha256Digest;
    readonly step?: string;
    readonly kind: 'completed' | 'failed' | 'retry';
    readonly by: string;
    readonly reason: string;
  };
  'graph:timer-fired': {
    readonly position: string;
    readonly pauseId: string;
    readonly dueAt: IsoTime;
    readonly at: IsoTime;
  };
  'graph:signal-received': {
    readonly name: string;
    readonly signalId: string;
    readonly payload: JsonValue;
    readonly at: IsoTime;
    /** The position whose child run waited for it: it is handed to that one. */
    readonly position?: string;
  };
  'graph:cancel-requested': {
    readonly by: string;
    readonly reason: string;
    readonly at: IsoTime;
  };
  'graph:run-finished': {
    readonly outcome: 'complete' | 'fail' | 'cancelled';
    readonly output?: JsonValue;
    readonly code?: string;
    readonly message?: string;
  };
}

export type EventType = keyof EventPayloads;

/** What the catalog knows of one event type. */
export interface CatalogEntry {
  readonly version: number;
  /** Whether graph code sees the event (without the `graph:` prefix). */
  readonly reduced: boolean;
  /** Null, or what is wrong with this payload. */
  readonly check: PayloadCheck;
}

const occurrence = { nodeId: text, position: text } as const;

function entry(reduced: boolean, check: PayloadCheck): CatalogEntry {
  return { version: 1, reduced, check };
}

/** The closed list of the types a run's own stream may hold in this version. */
export const eventCatalog: Readonly<Record<EventType, CatalogEntry>> = {
  'graph:run-started': entry(false, exact({ definition: json })),
  'graph:node-dispatched': entry(
    true,
    exact(
      { ...occurrence, inputDigest: digest, decidedAt: positiveInteger, at: isoTime },
      { notBefore: isoTime, retryOf: text },
    ),
  ),
  'graph:node-attempt-started': entry(
    false,
    exact(
      {
        identity: exact({ namespace: text, streamId: text, ...occurrence, attemptId: digest }),
        retrySafe: boolean,
      },
      { childRunId: text },
    ),
  ),
  'graph:node-step-started': entry(
    false,
    exact({ position: text, step: text, retrySafe: boolean }),
  ),
  'graph:node-step-recorded': entry(
    false,
    exact(
      { position: text, step: text },
      { result: json, code: text, message: string, retryable: falseOnly },
    ),
  ),
  'graph:engine-attempt-recorded': entry(
    true,
    exact(
      {
        ...occurrence,
        sequence: positiveInteger,
        requested: nullable(engineIdentity),
        effective: nullable(engineIdentity),
        usage: usageReceipt,
      },
      { failure: failureKind },
    ),
  ),
  'graph:model-unavailable': entry(
    false,
    exact(
      {
        selected: engineIdentity,
        reported: nullable(engineIdentity),
        failure: failureKind,
        source: unavailabilitySource,
      },
      occurrence,
    ),
  ),
  'graph:node-completed': entry(
    true,
    exact({ ...occurrence, result: json, at: isoTime }, { signalId: text }),
  ),
  'graph:node-failed': entry(
    true,
    exact(
      { ...occurrence, code: text, message: string, retryable: boolean, at: isoTime },
      { abandoned: trueOnly },
    ),
  ),
  'graph:node-paused': entry(
    true,
    exact({ ...occurrence, reason: text, request: pauseRequest, at: isoTime }),
  ),
  'graph:node-resumed': entry(true, exact({ ...occurrence, at: isoTime }, { signalId: text })),
  'graph:pause-answered': entry(
    false,
    exact({ pauseId: text, position: text, answer: json, by: text }),
  ),
  'graph:attempt-reconciled': entry(
    false,
    exact(
      {
        pauseId: text,
        position: text,
        attemptId: digest,
        kind: oneOf('completed', 'failed', 'retry'),
        by: text,
        reason: text,
      },
      { step: text },
    ),
  ),
  'graph:timer-fired': entry(
    false,
    exact({ position: text, pauseId: text, dueAt: isoTime, at: isoTime }),
  ),
  'graph:signal-received': entry(
    true,
    exact({ name: text, signalId: text, payload: json, at: isoTime }, { position: text }),
  ),
  'graph:cancel-requested': entry(false, exact({ by: text, reason: text, at: isoTime })),
  'graph:run-finished': entry(
    false,
    exact(
      { outcome: oneOf('complete', 'fail', 'cancelled') },
      { output: json, code: text, message: string },
    ),
  ),
  'preflight:probe-started': entry(false, probeStarted),
  'preflight:probe-finished': entry(false, probeFinished),
  'preflight:paused': entry(false, preflightPaused),
  'preflight:resumed': entry(false, preflightResumed),
  'preflight:failed': entry(false, preflightFailed),
};

/** True for a type of the catalog. */
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventCatalog, type);
}

/** What `reduce` sees of each type: its name without the prefix, or null where it sees nothing. */
export const reducedNames: Readonly<Record<EventType, string | null>> = Object.fromEntries(
  Object.entries(eventCatalog).map(([type, { reduced }]) => [
    type,
    reduced ? type.slice('graph:'.length) : null,
  ]),
) as Record<EventType, string | null>;
