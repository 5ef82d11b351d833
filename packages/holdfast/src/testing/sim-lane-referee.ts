/**
 * What a log says of lanes: which receipts there are and which targets are dead. It is written from
 * the words of the seed, apart from the library's own rules.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { ExecutionTarget } from '../graph/execution-target.ts';
import type { EventEnvelope } from '../history/envelope.ts';
import type { AnsweredCall, CutOff } from './sim-call-end.ts';
import type { EnginePlan, LanePlan } from './sim-lane-plan.ts';
import { textOf } from './sim-position.ts';

/** A receipt among those of one launch of a position, from 1. */
export interface ReceiptPlace {
  readonly runId: string;
  readonly position: string;
  readonly launch: number;
  readonly place: number;
}

/** The end of a live check in a log. */
export interface EndedProbe {
  readonly probeEventId: string;
  readonly outcome: JsonObject;
  /** Whether whoever began it has written its end. */
  readonly isOwn: boolean;
}

/** What engines have really done. */
export interface CallWitness {
  /** What a receipt says otherwise than the engine of its call, or null. */
  fault(of: ReceiptPlace, receipt: JsonObject, cut: CutOff | null): string | null;
  /** The same of the end of a live check. */
  probeFault(ended: EndedProbe): string | null;
  /** The call of a receipt. */
  call(of: ReceiptPlace): AnsweredCall | null;
  /** A receipt stands in a log. */
  recorded(plan: EnginePlan, usage: JsonValue | undefined): void;
  /** How many engine calls a launch of a position has made. */
  count(of: Omit<ReceiptPlace, 'place'>): number;
}

export class LaneReferee {
  readonly #lanes: readonly LanePlan[];
  readonly #runId: string;
  readonly #witness: CallWitness;
  readonly #receipts = new Map<string, number>();
  /** Receipts of the present launch of a position. */
  readonly #recent = new Map<string, number>();
  /** What is dead, with the sequence of the fact that has proven it first. */
  readonly #dead = new Map<string, number>();

  constructor(runId: string, lanes: readonly LanePlan[], witness: CallWitness) {
    this.#runId = runId;
    this.#lanes = lanes;
    this.#witness = witness;
  }

  /** The place of the first fact that proves a target dead, or null. */
  diedAt(target: ExecutionTarget): number | null {
    const places = targetKeys(target).flatMap((key) => this.#dead.get(key) ?? []);
    return places.length === 0 ? null : Math.min(...places);
  }

  lane(laneId: string): LanePlan | undefined {
    return this.#lanes.find(({ id }) => id === laneId);
  }

  /** A position starts, or runs again: what its last launch has called has left receipts. */
  launched(position: string, launch: number): string | null {
    const rule = this.settled(position, launch - 1);
    this.#recent.set(position, 0);
    return rule;
  }

  /** The rule that a receipt breaks, or null. */
  receipt(payload: JsonObject, { laneId, launch, isOwn, cut }: ReceiptContext): string | null {
    const position = textOf(payload['position']);
    const expected = (this.#receipts.get(position) ?? 0) + 1;
    if (payload['sequence'] !== expected) return `it is receipt ${expected} of its position`;
    this.#receipts.set(position, expected);
    const place = (this.#recent.get(position) ?? 0) + 1;
    this.#recent.set(position, place);
    const requested = payload['requested'];
    if (!isJsonObject(requested)) {
      const usage = isJsonObject(payload['usage']) ? payload['usage'] : {};
      const knows = payload['effective'] !== null || usage['kind'] !== 'unknown';
      return knows ? 'nobody knows that of a call that was cut off' : null;
    }
    const isOurs = this.lane(laneId)?.seats.some(({ target }) => isTarget(requested, target));
    if (isOurs !== true) return 'its lane has no such target';
    if (!isOwn) return 'another process has made the call';
    return this.#witness.fault({ runId: this.#runId, position, launch, place }, payload, cut);
  }

  /** The last call of a launch. */
  called(position: string, launch: number): AnsweredCall | null {
    const place = this.#recent.get(position) ?? 0;
    return this.#witness.call({ runId: this.#runId, position, launch, place });
  }

  /** A receipt of this node stands in the log: it counts for its budgets. */
  counted(plan: EnginePlan, { usage }: JsonObject): void {
    this.#witness.recorded(plan, usage);
  }

  /** The rule that a dead-lane fact breaks, or null; `before` stands before it in its append. */
  unavailable(payload: JsonObject, before: EventEnvelope | null, sequence: number): string | null {
    const receipt = isJsonObject(before?.payload) ? before.payload : {};
    const { selected, failure } = payload;
    if (before?.type !== 'graph:engine-attempt-recorded') return 'no receipt stands before it';
    const isProven =
      receipt['failure'] === failure &&
      receipt['position'] === payload['position'] &&
      JSON.stringify(receipt['requested']) === JSON.stringify(selected);
    if (!isProven) return 'the receipt before it proves something else';
    return this.bury(payload, sequence);
  }

  /** Takes in a fact; the rule that it breaks, or null. */
  bury({ selected, reported, failure }: JsonObject, sequence: number): string | null {
    if (!isJsonObject(selected)) return 'it names no target';
    const keys = deadKeys(textOf(failure), selected, isJsonObject(reported) ? reported : {});
    for (const key of keys) if (!this.#dead.has(key)) this.#dead.set(key, sequence);
    return keys.length === 0 ? `${textOf(failure)} proves nothing` : null;
  }

  /** The rule that a check's end breaks, or null. */
  probed(ended: EndedProbe): string | null {
    return this.#witness.probeFault(ended);
  }

  /** The rule that an outcome of an attempt breaks: each of its calls has left a receipt. */
  settled(position: string, launch: number): string | null {
    const calls = this.#witness.count({ runId: this.#runId, position, launch });
    const receipts = this.#recent.get(position) ?? 0;
    return receipts >= calls ? null : `${calls} calls were made, ${receipts} receipts stand here`;
  }
}

/** Where a receipt stands: in which launch of its position, and whether its caller wrote it. */
interface ReceiptContext {
  readonly laneId: string;
  readonly launch: number;
  readonly isOwn: boolean;
  /** Why nobody waited for the call, as the outcome behind the receipt says. */
  readonly cut: CutOff | null;
}

/** All that a target is dead by. */
export function targetKeys({ adapter, provider, model }: ExecutionTarget): readonly string[] {
  return [`adapter ${adapter}`, `credentials ${adapter} ${provider}`, `model ${provider} ${model}`];
}

/** What a failure proves dead. */
export function deadKeys(
  failure: string,
  selected: JsonObject,
  reported: JsonObject,
): readonly string[] {
  const { adapter, provider } = selected;
  const model = (of: JsonObject) => `model ${textOf(of['provider'])} ${textOf(of['model'])}`;
  switch (failure) {
    case 'auth':
      return [`credentials ${textOf(adapter)} ${textOf(provider)}`];
    case 'missing-cli':
    case 'invalid-config':
      return [`adapter ${textOf(adapter)}`];
    case 'billing':
    case 'quota':
    case 'model-unavailable':
      return textOf(reported['model']) === ''
        ? [model(selected)]
        : [model(selected), model(reported)];
    default:
      return [];
  }
}

/** True when the outcome behind a receipt says that nobody knows how its call has ended. */
export function endsCutOff({ type, payload }: EventEnvelope, position: string): boolean {
  const outcome = isJsonObject(payload) ? payload : {};
  if (outcome['position'] !== position) return false;
  if (type === 'graph:node-failed') return outcome['abandoned'] === true;
  return type === 'graph:node-resumed' || type === 'graph:node-paused';
}

/** Why nobody waits for the call of a receipt any more, as the event behind it says. */
export function cutOffOf(event: EventEnvelope | null, position: string): CutOff | null {
  const outcome = isJsonObject(event?.payload) ? event.payload : {};
  if (event?.type !== 'graph:node-failed' || outcome['position'] !== position) return null;
  if (outcome['code'] === 'TIMEOUT') return 'timeout';
  return outcome['code'] === 'ABORTED' ? 'aborted' : null;
}

/** True for a failure after which its receipt is followed by the fact that a target is dead. */
export function provesDead({ failure }: JsonObject): boolean {
  return deadKeys(textOf(failure), {}, {}).length > 0;
}

function isTarget(identity: JsonObject, target: ExecutionTarget): boolean {
  return (
    identity['adapter'] === target.adapter &&
    identity['provider'] === target.provider &&
    identity['model'] === target.model
  );
}
