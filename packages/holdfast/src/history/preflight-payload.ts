/**
 * The events of the engine checks before a run's first dispatch: their payloads and their checks.
 * Seed 002, "Check the engines". In which order they may stand is the preflight machine's.
 *
 * Invariants: at most one probe is open; a probe that did not go well is finished in the append
 * that also holds what follows from it; evidence stands as a reference to an artifact.
 */
import type { Sha256Digest } from '../base/digest.ts';
import type { EngineFailureKind } from '../base/engine-failure.ts';
import type { EngineSelectionRecord, GraphEngineIdentity } from '../base/engine-identity.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { IsoTime } from '../base/time.ts';
import type { UsageReceipt } from '../base/usage.ts';
import { engineIdentity, failureKind, nullable, usageReceipt } from './engine-payload.ts';
import {
  digest,
  exact,
  type FieldChecks,
  isoTime,
  oneOf,
  type PayloadCheck,
  text,
  wholeNumber,
} from './payload-check.ts';

/** The target a probe is about, as the plan names it. */
export interface ProbeTarget {
  readonly adapter: string;
  readonly provider: string;
  readonly modelFamily: string;
  readonly model: string;
  readonly tools: readonly string[];
}

/** Where an artifact lies that holds what a probe has shown. */
export interface ProbeArtifact {
  readonly schemaVersion: 1;
  readonly digest: Sha256Digest;
  readonly byteLength: number;
  readonly mediaType: string;
  readonly purpose: string;
}

/** Without a call: would the engine admit the seat, for this node (null: the lane has none)? */
export interface StaticProbeStarted {
  readonly stage: 'static';
  readonly laneId: string;
  readonly target: ProbeTarget;
  readonly contextNodeId: string | null;
  /** The identity that the host has bound to the target. */
  readonly selection: EngineSelectionRecord;
  /** What an earlier check of the same seat and node has saved: the engine must say it again. */
  readonly expected: EngineSelectionRecord | null;
  /** The `preflight:resumed` event behind which it stands. */
  readonly resumedBy: string | null;
  readonly at: IsoTime;
}

/** One call without tools: does the seat answer? */
export interface LiveProbeStarted {
  readonly stage: 'live';
  readonly laneId: string;
  readonly target: ProbeTarget;
  /** The identity that must answer: the saved one, without capabilities. */
  readonly selection: EngineSelectionRecord;
  readonly resumedBy: string | null;
  readonly at: IsoTime;
}

/** The check never came to an end, or what it has shown could not be stored. */
export type ProbeCutShort =
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'recording-failed'; readonly storageCode: string };

/** What a static check has shown. */
export type StaticOutcome =
  | { readonly kind: 'admitted'; readonly selection: EngineSelectionRecord }
  | { readonly kind: 'unsupported' }
  | {
      readonly kind: 'failed';
      readonly failure: EngineFailureKind;
      readonly reported: GraphEngineIdentity | null;
      readonly diagnostic: ProbeArtifact | null;
    }
  | ProbeCutShort;

/** What a live check has shown, and what the call has used and reported, whatever it came to. */
export type LiveOutcome = {
  readonly usage: UsageReceipt;
  readonly reported: GraphEngineIdentity | null;
} & (
  | { readonly kind: 'succeeded'; readonly evidence: ProbeArtifact }
  | {
      readonly kind: 'failed';
      readonly failure: EngineFailureKind;
      readonly evidence: ProbeArtifact | null;
      readonly diagnostic: ProbeArtifact | null;
    }
  | ProbeCutShort
);

/** The end of one probe. */
export type ProbeFinished =
  | {
      readonly stage: 'static';
      readonly probeEventId: string;
      readonly outcome: StaticOutcome;
      readonly at: IsoTime;
    }
  | {
      readonly stage: 'live';
      readonly probeEventId: string;
      readonly outcome: LiveOutcome;
      readonly at: IsoTime;
    };

/** Why a preflight waits for a person. */
export type PreflightPauseReason = 'engine-failure' | 'interrupted' | 'recording-failure';

/** The payloads of the preflight events. */
export interface PreflightPayloads {
  'preflight:probe-started': StaticProbeStarted | LiveProbeStarted;
  'preflight:probe-finished': ProbeFinished;
  /** `finishedEventId`: the end of the probe that led to it; `message`: what was wrong with it. */
  'preflight:paused': {
    readonly finishedEventId: string;
    readonly reason: PreflightPauseReason;
    readonly message: string;
    readonly at: IsoTime;
  };
  /** `preflightEventId`: the pause that ends. */
  'preflight:resumed': { readonly preflightEventId: string; readonly at: IsoTime };
  /** The end: a lane has no seat left. */
  'preflight:failed': {
    readonly laneId: string;
    readonly code: 'PREFLIGHT_FAILED';
    readonly reason: 'no-admissible-target';
    readonly at: IsoTime;
  };
}

/** A list of distinct texts. */
const names: PayloadCheck = (value) => {
  if (!Array.isArray(value)) return 'expected a list';
  const list = value as readonly JsonValue[];
  if (new Set(list).size !== list.length) return 'expected distinct names';
  return list.map(text).find((fault) => fault !== null) ?? null;
};

const target = exact({
  adapter: text,
  provider: text,
  modelFamily: text,
  model: text,
  tools: names,
});

/** A full identity, with nothing left out. */
export const selectionRecord: PayloadCheck = exact({
  adapter: text,
  adapterVersion: nullable(text),
  provider: nullable(text),
  modelFamily: nullable(text),
  model: nullable(text),
  executable: nullable(text),
  capabilities: names,
});

const schemaVersion: PayloadCheck = (value) => (value === 1 ? null : 'expected 1');

const artifact = nullable(
  exact({ schemaVersion, digest, byteLength: wholeNumber, mediaType: text, purpose: text }),
);

const presentArtifact: PayloadCheck = (value) =>
  value === null ? 'expected a reference' : artifact(value);

/** An object whose other fields follow from one of its own. */
function chosenBy(field: string, shapes: Readonly<Record<string, PayloadCheck>>): PayloadCheck {
  const word = oneOf(...Object.keys(shapes));
  return (value) => {
    if (!isJsonObject(value)) return 'expected an object';
    const chosen = value[field] ?? null;
    const fault = word(chosen);
    return fault === null ? (shapes[String(chosen)]?.(value) ?? null) : `${field}: ${fault}`;
  };
}

function outcomeOf(kinds: Readonly<Record<string, FieldChecks>>, both: FieldChecks): PayloadCheck {
  const cutShort = { interrupted: {}, 'recording-failed': { storageCode: text } };
  const shapes = Object.entries({ ...kinds, ...cutShort }).map(([kind, fields]) => [
    kind,
    exact({ kind: oneOf(kind), ...both, ...fields }),
  ]);
  return chosenBy('kind', Object.fromEntries(shapes));
}

const staticOutcome = outcomeOf(
  {
    admitted: { selection: selectionRecord },
    unsupported: {},
    failed: { failure: failureKind, reported: nullable(engineIdentity), diagnostic: artifact },
  },
  {},
);

const liveOutcome = outcomeOf(
  {
    succeeded: { evidence: presentArtifact },
    failed: { failure: failureKind, evidence: artifact, diagnostic: artifact },
  },
  { usage: usageReceipt, reported: nullable(engineIdentity) },
);

const probe = {
  laneId: text,
  target,
  selection: selectionRecord,
  resumedBy: nullable(text),
  at: isoTime,
} as const;

export const probeStarted: PayloadCheck = chosenBy('stage', {
  static: exact({
    stage: oneOf('static'),
    ...probe,
    contextNodeId: nullable(text),
    expected: nullable(selectionRecord),
  }),
  live: exact({ stage: oneOf('live'), ...probe }),
});

function finishedBy(stage: string, outcome: PayloadCheck): PayloadCheck {
  return exact({ stage: oneOf(stage), probeEventId: text, outcome, at: isoTime });
}

export const probeFinished: PayloadCheck = chosenBy('stage', {
  static: finishedBy('static', staticOutcome),
  live: finishedBy('live', liveOutcome),
});

export const preflightPaused: PayloadCheck = exact({
  finishedEventId: text,
  reason: oneOf('engine-failure', 'interrupted', 'recording-failure'),
  message: text,
  at: isoTime,
});

export const preflightResumed: PayloadCheck = exact({ preflightEventId: text, at: isoTime });

export const preflightFailed: PayloadCheck = exact({
  laneId: text,
  code: oneOf('PREFLIGHT_FAILED'),
  reason: oneOf('no-admissible-target'),
  at: isoTime,
});
