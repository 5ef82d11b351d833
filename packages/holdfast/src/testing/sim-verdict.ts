/**
 * What must become of an engine's answer: the node's result, or why it is none. Written from the
 * words of the design, apart from the library's own limits and contracts.
 */

import { createHash } from 'node:crypto';
import { canonicalText } from '../base/digest.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { Answer, AnsweredCall } from './sim-call-end.ts';
import type { EnginePlan } from './sim-lane-plan.ts';
import { holdsSecret } from './sim-secret.ts';

interface Verdict {
  /** The failures that an outcome may have; null = it is completed. */
  readonly codes: readonly (string | null)[];
  /** The result, if it is completed. */
  readonly result?: JsonValue;
  /** The bytes that it stands for, as a digest, if it is kept as an artifact. */
  readonly digest?: string;
}

/** Answers have less than this or far more than an event holds, in bytes. */
const LARGE_BYTES = 1_000;

/** The result that the node's code makes of an answer; null when it makes none. */
function resultOfAnswer(plan: EnginePlan, answer: Answer): JsonValue | null {
  const { contract = 'none', parse = 'none' } = plan.extras ?? {};
  const given = typeof answer === 'string' ? answer : { ...answer };
  if (parse === 'throws' || contract === 'promises') return null;
  const parsed = parse === 'shouts' ? { shouted: given } : given;
  if (contract === 'value' && typeof parsed === 'string') return null;
  return contract === 'wraps' ? { wrapped: parsed } : parsed;
}

/** What may be wrong with the store now. */
export interface StoreTrouble {
  /** Whether it may have no room for artifacts. */
  readonly isFull: boolean;
  /** Whether it may fail otherwise. */
  readonly mayFail: boolean;
}

/** What is beside an answer. */
interface AnswerPlace extends StoreTrouble {
  /** Whether the attempt had been told to stop: then only a result counts. */
  readonly isLate: boolean;
}

/** What an answer must come to. */
function verdictOf(
  plan: EnginePlan,
  answer: Answer,
  { isFull, isLate, mayFail }: AnswerPlace,
): Verdict {
  const over = isLate ? ['TIMEOUT', 'ABORTED'] : [];
  const { outputBytes = null } = plan.extras ?? {};
  const limit = outputBytes ?? Number.POSITIVE_INFINITY;
  const said = typeof answer === 'string' ? answer : JSON.stringify(answer);
  if (bytesOf(said) > limit) return { codes: ['OUTPUT_LIMIT', ...over] };
  const result = resultOfAnswer(plan, answer);
  if (result === null) return { codes: ['RESULT_INVALID', ...over] };
  const text = JSON.stringify(result);
  // A limit of what the engine says is kept by what is made of it too.
  if (bytesOf(text) > limit) return { codes: ['OUTPUT_LIMIT'] };
  const isLarge = bytesOf(text) > LARGE_BYTES;
  if (isLarge && !plan.keepsLargeResults) return { codes: ['RESULT_TOO_LARGE'] };
  // Storing takes its time, and may fail.
  const late = isLarge ? ['TIMEOUT', 'ABORTED', ...(mayFail ? ['STORE_IO'] : [])] : [];
  const full = isLarge && isFull ? ['RESULT_TOO_LARGE'] : [];
  if (holdsSecret(said) || holdsSecret(text)) return { codes: ['KNOWN_SECRET', ...late, ...full] };
  if (!isLarge) return { codes: [null], result };
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  return { codes: [null, ...late, ...full], digest };
}

/** The outcome of an engine's attempt; `code` is null when it is completed. */
interface Outcome {
  readonly code: string | null;
  readonly result: JsonValue;
}

interface OutcomeParts {
  readonly plan: EnginePlan;
  /** The one before the outcome in its append. */
  readonly receipt: JsonObject | null;
  /** The call of that receipt, if anybody knows it. */
  readonly call: AnsweredCall | null;
  readonly store: StoreTrouble;
}

const OVERSPENT: readonly (string | null)[] = ['TOKEN_BUDGET', 'TIMEOUT', 'ABORTED'];

/** The rule that an outcome breaks by what the last call has come to, or null. */
export function outcomeFault({ code, result }: Outcome, parts: OutcomeParts): string | null {
  const { plan, receipt, call, store } = parts;
  if (receipt === null || receipt['failure'] !== undefined) {
    if (code === null) return 'no call has answered, and it has a result';
    const mustSay = call?.hasOverspent === true && !OVERSPENT.includes(code);
    return mustSay ? 'its call has used more than a hard budget had held for it' : null;
  }
  if (call?.answer == null) return null;
  const verdict = verdictOf(plan, call.answer, { ...store, isLate: call.wasStopped });
  if (!verdict.codes.includes(code)) return `its answer must end with ${verdict.codes.join()}`;
  return code === null ? unlikeVerdict(verdict, result) : null;
}

function unlikeVerdict({ result, digest }: Verdict, found: JsonValue): string | null {
  if (result !== undefined) {
    return canonicalText(result) === canonicalText(found) ? null : 'its engine has answered else';
  }
  const artifact = isJsonObject(found) && isJsonObject(found['artifact']) ? found['artifact'] : {};
  return artifact['digest'] === digest ? null : 'its artifact is not what its engine has answered';
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
