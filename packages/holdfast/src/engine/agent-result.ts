/**
 * An engine's answer, read into a value that can be trusted.
 *
 * Invariants: what is handed out is frozen and shares nothing with what the engine returned; usage
 * that nobody reported is unknown, never zero; the identity asked for is the caller's own record.
 */
import type { EngineSelectionRecord, GraphEngineIdentity } from '../base/engine-identity.ts';
import { cloneFrozenJson, type JsonValue, JsonValueError } from '../base/json.ts';
import { utf8Length } from '../base/text.ts';
import { UNKNOWN_USAGE, type UsageReceipt } from '../base/usage.ts';
import type { AgentPart, AgentResult } from './engine.ts';
import {
  guarded,
  itemsOf,
  nameAt,
  type Properties,
  propertiesOf,
  type Returned,
  refuse,
  textAt,
} from './returned-value.ts';

/** The most parts that one answer may have. */
const MAX_RESULT_PARTS = 100_000;

/** The part that is the answer proper. */
export type FinalPart = AgentPart & { readonly final: true };

/**
 * What `returned` says, frozen and checked. Throws `RESULT_INVALID` naming the field, what stands
 * there and what is expected, for whatever is no `AgentResult` of a call of `requested`.
 *
 * @example const result = readAgentResult(await engine.run(request, listen, signal), selection)
 */
export function readAgentResult(returned: unknown, requested: EngineSelectionRecord): AgentResult {
  const at = { value: returned, path: '' };
  return guarded(at, () => {
    const field = propertiesOf(at, 'an object with parts, usage, requested and effective');
    const parts = readParts(field('parts'));
    const usage = usageAt(field('usage'));
    requireSelection(field('requested'), requested);
    const effective = identityOrNull(field('effective'));
    const reason = field('stopReason');
    const stop = isAbsent(reason) ? {} : { stopReason: textAt(reason) };
    return Object.freeze({ parts, usage, requested, effective, ...stop });
  });
}

/** The final part of a result: its last one. */
export function finalPart(result: AgentResult): FinalPart {
  const part = result.parts.at(-1);
  return part?.final === true
    ? (part as FinalPart)
    : refuse({ value: result.parts.length, path: '/parts' }, 'parts that end with a final one');
}

/** The size of a whole answer in UTF-8 bytes: its texts, and the JSON text of its values. */
export function partsBytes(result: AgentResult): number {
  let bytes = 0;
  for (const part of result.parts) {
    bytes += utf8Length(part.kind === 'assistant' ? part.text : JSON.stringify(part.value));
  }
  return bytes;
}

/**
 * A receipt, as an engine reports it. What is absent is unknown; what is malformed throws
 * `RESULT_INVALID`.
 *
 * @example readUsage(undefined) // { kind: 'unknown' }
 */
export function readUsage(value: unknown): UsageReceipt {
  const at = { value, path: '/usage' };
  return guarded(at, () => usageAt(at));
}

/** An identity, as an engine reports it; null for what is absent or malformed. */
export function readReportedIdentity(value: unknown): GraphEngineIdentity | null {
  try {
    return identityOrNull({ value, path: '/effective' });
  } catch {
    return null;
  }
}

function readParts(at: Returned): readonly AgentPart[] {
  const what = `an array of 1 to ${MAX_RESULT_PARTS} parts`;
  const items = itemsOf(at, { least: 1, most: MAX_RESULT_PARTS, what });
  const last = items.length - 1;
  return Object.freeze(items.map((item, index) => readPart(item, index === last)));
}

function readPart(at: Returned, isLast: boolean): AgentPart {
  const field = propertiesOf(at, 'a part');
  const kind = field('kind');
  if (kind.value === 'assistant') {
    const text = textAt(field('text'));
    return Object.freeze({ kind: 'assistant', text, final: readFinal(field, isLast) });
  }
  if (kind.value !== 'structured') return refuse(kind, "'assistant' or 'structured'");
  if (!isLast) refuse(kind, "'assistant': a structured part is final, so the last of all");
  readFinal(field, true);
  return Object.freeze({ kind: 'structured', value: jsonAt(field('value')), final: true });
}

/** The one final part is the last one. */
function readFinal(field: Properties, isLast: boolean): boolean {
  const final = field('final');
  if (final.value === isLast) return isLast;
  const why = isLast ? 'true: the last part is final' : 'false: only the last part is final';
  return refuse(final, why);
}

function jsonAt(at: Returned): JsonValue {
  return guarded(at, () => {
    try {
      return cloneFrozenJson(at.value);
    } catch (error) {
      if (!(error instanceof JsonValueError)) throw error;
      const place = { value: undefined, path: `${at.path}${error.path}` };
      return refuse(place, 'plain JSON', { seen: whatOf(error), cause: error });
    }
  });
}

/** The message without the path that it begins with. */
function whatOf({ message, path }: JsonValueError): string {
  return message.slice(path === '' ? '<root>: '.length : path.length + 2);
}

const COUNT = 'a whole number of tokens from 0';

function usageAt(at: Returned): UsageReceipt {
  if (isAbsent(at)) return UNKNOWN_USAGE;
  const field = propertiesOf(at, "a receipt: { kind: 'unknown' } or { kind: 'reported', … }");
  const kind = field('kind');
  if (kind.value === 'unknown') return UNKNOWN_USAGE;
  if (kind.value !== 'reported') refuse(kind, "'unknown' or 'reported'");
  return Object.freeze({
    kind: 'reported',
    inputTokens: countAt(field('inputTokens')),
    outputTokens: countAt(field('outputTokens')),
    ...optionalCount(field, 'cacheCreationInputTokens'),
    ...optionalCount(field, 'cacheReadInputTokens'),
  });
}

function countAt(at: Returned): number {
  const { value } = at;
  // Adding 0 makes 0 of -0, which JSON does not have.
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) + 0 : refuse(at, COUNT);
}

function optionalCount<Name extends string>(
  field: Properties,
  name: Name,
): { readonly [key in Name]?: number } {
  const at = field(name);
  return isAbsent(at) ? {} : ({ [name]: countAt(at) } as { readonly [key in Name]: number });
}

const NAMES = ['provider', 'modelFamily', 'model'] as const;

function identityOrNull(at: Returned): GraphEngineIdentity | null {
  if (isAbsent(at)) return null;
  const field = propertiesOf(at, 'an identity, or null');
  const adapter = nameAt(field('adapter'), 'the name of an adapter');
  const [provider, modelFamily, model] = NAMES.map((name) => {
    const part = field(name);
    return isAbsent(part) ? null : nameAt(part, 'a name, or null');
  }) as [string | null, string | null, string | null];
  return Object.freeze({ adapter, provider, modelFamily, model });
}

const SELECTION_NAMES = ['adapter', 'adapterVersion', ...NAMES, 'executable'] as const;

/** The identity that an engine says it was asked for is the one that was prepared. */
function requireSelection(at: Returned, requested: EngineSelectionRecord): void {
  const field = propertiesOf(at, 'the identity that was asked for (use engineSelection)');
  for (const name of SELECTION_NAMES) {
    const part = field(name);
    if (isLeftOpen(name, requested) && typeof part.value === 'string') continue;
    if (part.value !== requested[name]) refuse(part, `what was asked for: ${requested[name]}`);
  }
  const capabilities = field('capabilities');
  const wanted = requested.capabilities;
  const what = wanted.length === 0 ? 'an empty array' : `what was asked for: ${wanted.join(', ')}`;
  const found = itemsOf(capabilities, { least: wanted.length, most: wanted.length, what });
  found.forEach((item, index) => {
    if (item.value !== wanted[index]) refuse(item, what);
  });
}

/** A host that names no version and no executable asks for whichever the engine has. */
function isLeftOpen(name: keyof EngineSelectionRecord, requested: EngineSelectionRecord): boolean {
  return (name === 'adapterVersion' || name === 'executable') && requested[name] === null;
}

function isAbsent({ value }: Returned): boolean {
  return value === undefined || value === null;
}
