/**
 * What an engine's `admit` answers, held against the seat that is checked.
 *
 * Invariants: it never throws; an identity that is admitted or reported fits an event, however
 * large what the engine answered; a refusal names what is wrong, and with which value.
 */
import {
  type EngineSelectionRecord,
  engineIdentity,
  type GraphEngineIdentity,
} from '../base/engine-identity.ts';
import { cloneFrozenJson, isJsonObject, type JsonValue } from '../base/json.ts';
import { selectionRecord } from '../history/preflight-payload.ts';
import { isNamed } from '../run/lane-book.ts';
import type { StaticStep } from '../run/preflight/preflight-step.ts';

/** The longest name of an identity, and the longest path of its executable, in characters. */
const MAX_NAME_LENGTH = 200;
const MAX_EXECUTABLE_LENGTH = 4_096;

/** Of a value that is shown in a refusal, so many characters. */
const MAX_SHOWN_LENGTH = 200;

export type Admission =
  | { readonly kind: 'admitted'; readonly selection: EngineSelectionRecord }
  | {
      readonly kind: 'refused';
      readonly reported: GraphEngineIdentity | null;
      readonly text: string;
    };

type Expectation = Pick<StaticStep, 'target' | 'expected'>;

/** Reads an answer of `admit`: the target must run under it, as it was admitted before. */
export function readAdmission(answer: unknown, { target, expected }: Expectation): Admission {
  const value = jsonOf(answer);
  const fault = identityFault(value);
  if (fault !== null) return { kind: 'refused', reported: null, text: fault };
  const selection = value as unknown as EngineSelectionRecord;
  const reported = engineIdentity(selection);
  const wanted = { ...selection, ...namesOf(target, selection), capabilities: target.tools };
  const other = difference(selection, wanted);
  if (other !== null) {
    const text = `The engine would run under another identity than the target's: ${other}.`;
    return { kind: 'refused', reported, text };
  }
  const changed = expected === null ? null : difference(selection, expected);
  if (changed === null) return { kind: 'admitted', selection };
  const text = `The engine is not the one that was admitted before: ${changed}.`;
  return { kind: 'refused', reported, text };
}

/** The target's names where the identity may not say another: what it leaves open fits. */
function namesOf(
  target: Expectation['target'],
  selection: EngineSelectionRecord,
): Partial<GraphEngineIdentity> {
  if (isNamed(target, selection)) return {};
  const { adapter, provider, modelFamily, model } = target;
  return {
    adapter,
    provider: selection.provider === null ? null : provider,
    modelFamily: selection.modelFamily === null ? null : modelFamily,
    model: selection.model === null ? null : model,
  };
}

/** Why a value is no identity that can be kept, or null. */
function identityFault(value: JsonValue | undefined): string | null {
  if (!isJsonObject(value)) return 'The engine names no identity: what it admits is no object.';
  for (const [name, part] of Object.entries(value)) {
    const long = (Array.isArray(part) ? part : [part]).find((each) => isTooLong(name, each));
    if (long === undefined) continue;
    const size = `${String(long).length} characters, and ${limitOf(name)} are allowed`;
    return `The engine names an identity that cannot be kept: its ${shown(name)} has ${size}.`;
  }
  const fault = selectionRecord(value);
  return fault === null ? null : `The engine names no identity that can be read: ${fault}.`;
}

function isTooLong(name: string, part: JsonValue): boolean {
  return typeof part === 'string' && part.length > limitOf(name);
}

function limitOf(name: string): number {
  return name === 'executable' ? MAX_EXECUTABLE_LENGTH : MAX_NAME_LENGTH;
}

/** Which parts differ, each with both values; null when none does. */
function difference(found: EngineSelectionRecord, wanted: EngineSelectionRecord): string | null {
  const names = Object.keys(wanted).sort() as (keyof EngineSelectionRecord)[];
  const parts = names
    .filter((name) => JSON.stringify(found[name]) !== JSON.stringify(wanted[name]))
    .map((name) => `${name} is ${shown(found[name])}, not ${shown(wanted[name])}`);
  return parts.length === 0 ? null : parts.join('; ');
}

function shown(value: JsonValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}

function jsonOf(answer: unknown): JsonValue | undefined {
  try {
    return cloneFrozenJson(answer);
  } catch {
    return undefined;
  }
}
