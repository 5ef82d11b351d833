/**
 * What a log says of lanes: which receipts there are and which targets are dead. It is written from
 * the words of the seed, apart from the library's own rules.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { ExecutionTarget } from '../graph/execution-target.ts';
import type { EventEnvelope } from '../history/envelope.ts';
import type { LanePlan } from './sim-lanes.ts';
import { textOf } from './sim-position.ts';

/** What engines have really done. */
export interface CallWitness {
  /** Whether an engine has claimed this usage for a call of the position. */
  readonly said: (runId: string, position: string, usage: JsonValue) => boolean;
  /** How many engine calls a launch of the position has made. */
  readonly calls: (runId: string, position: string, launch: number) => number;
}

export class LaneReferee {
  readonly #lanes: readonly LanePlan[];
  readonly #runId: string;
  readonly #witness: CallWitness;
  readonly #receipts = new Map<string, number>();
  /** Receipts of the present launch of a position. */
  readonly #recent = new Map<string, number>();
  readonly #adapters = new Set<string>();
  readonly #credentials = new Set<string>();
  readonly #models = new Set<string>();

  constructor(runId: string, lanes: readonly LanePlan[], witness: CallWitness) {
    this.#runId = runId;
    this.#lanes = lanes;
    this.#witness = witness;
  }

  isDead({ adapter, provider, model }: ExecutionTarget): boolean {
    return (
      this.#adapters.has(adapter) ||
      this.#credentials.has(`${adapter} ${provider}`) ||
      this.#models.has(`${provider} ${model}`)
    );
  }

  lane(laneId: string): LanePlan | undefined {
    return this.#lanes.find(({ id }) => id === laneId);
  }

  /** A position starts, or runs again. */
  launched(position: string): void {
    this.#recent.set(position, 0);
  }

  /** The rule that a receipt breaks, or null. */
  receipt(payload: JsonObject, laneId: string): string | null {
    const position = textOf(payload['position']);
    const expected = (this.#receipts.get(position) ?? 0) + 1;
    if (payload['sequence'] !== expected) return `it is receipt ${expected} of its position`;
    this.#receipts.set(position, expected);
    this.#recent.set(position, (this.#recent.get(position) ?? 0) + 1);
    const usage = payload['usage'] ?? null;
    const claimed = isJsonObject(usage) && usage['kind'] === 'reported';
    if (claimed && !this.#witness.said(this.#runId, position, usage)) return 'no engine said so';
    const requested = payload['requested'];
    if (!isJsonObject(requested)) return null;
    const isOurs = this.lane(laneId)?.seats.some(({ target }) => isTarget(requested, target));
    return isOurs === true ? null : 'its lane has no such target';
  }

  /** The rule that a dead-lane fact breaks, or null; `before` stands before it in its append. */
  unavailable(payload: JsonObject, before: EventEnvelope | null): string | null {
    const receipt = isJsonObject(before?.payload) ? before.payload : {};
    const { selected, failure } = payload;
    if (before?.type !== 'graph:engine-attempt-recorded') return 'no receipt stands before it';
    const isProven =
      receipt['failure'] === failure &&
      receipt['position'] === payload['position'] &&
      JSON.stringify(receipt['requested']) === JSON.stringify(selected);
    if (!isProven) return 'the receipt before it proves something else';
    return this.bury(payload);
  }

  /** Takes in a fact; the rule that it breaks, or null. */
  bury({ selected, reported, failure }: JsonObject): string | null {
    if (!isJsonObject(selected)) return 'it names no target';
    return this.#bury(textOf(failure), selected, isJsonObject(reported) ? reported : {});
  }

  #bury(failure: string, selected: JsonObject, reported: JsonObject): string | null {
    const { adapter, provider, model } = selected;
    switch (failure) {
      case 'auth':
        this.#credentials.add(`${textOf(adapter)} ${textOf(provider)}`);
        return null;
      case 'missing-cli':
      case 'invalid-config':
        this.#adapters.add(textOf(adapter));
        return null;
      case 'billing':
      case 'quota':
      case 'model-unavailable':
        this.#models.add(`${textOf(provider)} ${textOf(model)}`);
        if (textOf(reported['model']) !== '') {
          this.#models.add(`${textOf(reported['provider'])} ${textOf(reported['model'])}`);
        }
        return null;
      default:
        return `${failure} proves nothing`;
    }
  }

  /** The rule that an outcome of an attempt breaks: each of its calls has left a receipt. */
  settled(position: string, launch: number): string | null {
    const calls = this.#witness.calls(this.#runId, position, launch);
    const receipts = this.#recent.get(position) ?? 0;
    return receipts >= calls ? null : `${calls} calls were made, ${receipts} receipts stand here`;
  }
}

function isTarget(identity: JsonObject, target: ExecutionTarget): boolean {
  return (
    identity['adapter'] === target.adapter &&
    identity['provider'] === target.provider &&
    identity['model'] === target.model
  );
}
