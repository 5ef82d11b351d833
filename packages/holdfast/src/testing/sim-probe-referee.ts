/**
 * What a log says of the engine checks before a run: one at a time, and nothing else before they
 * have come to an end. Written from the words of the seed, apart from the library's own machine.
 */
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { EventEnvelope } from '../history/envelope.ts';
import type { EndedProbe } from './sim-lane-referee.ts';
import { textOf } from './sim-position.ts';
import type { StoreTrouble } from './sim-verdict.ts';

type LiveEnd = EndedProbe | string | null;

export class ProbeReferee {
  readonly #isRequired: boolean;
  readonly #store: StoreTrouble;
  /** Who has begun each check. */
  readonly #probers = new Map<string, string | null>();
  #open: string | null = null;
  #paused: string | null = null;
  #probes = 0;
  #resumes = 0;

  constructor(isRequired: boolean, store: StoreTrouble) {
    this.#isRequired = isRequired;
    this.#store = store;
  }

  get isOpen(): boolean {
    return this.#open !== null;
  }

  /** The rule that an event of a check breaks, or null. */
  read(event: EventEnvelope, payload: JsonObject, before: EventEnvelope | null): string | null {
    switch (event.type) {
      case 'preflight:probe-started':
        if (this.#open !== null) return `probe ${this.#open} is not finished`;
        if (this.#paused !== null) return 'the checks are paused';
        this.#open = event.id;
        this.#probes += 1;
        return null;
      case 'preflight:probe-finished':
        if (payload['probeEventId'] !== this.#open) return `the open probe is ${this.#open}`;
        this.#open = null;
        return null;
      case 'preflight:paused':
        if (before?.type !== 'preflight:probe-finished')
          return 'no finished probe stands before it';
        this.#paused = event.id;
        return null;
      case 'preflight:resumed':
        if (payload['preflightEventId'] !== this.#paused)
          return `the open pause is ${this.#paused}`;
        this.#paused = null;
        this.#resumes += 1;
        return null;
      default:
        return null;
    }
  }

  /** The end of a live check that an event is; the rule that it breaks; or null. */
  live(event: EventEnvelope, payload: JsonObject, writer: string | null): LiveEnd {
    if (event.type === 'preflight:probe-started') this.#probers.set(event.id, writer);
    if (event.type !== 'preflight:probe-finished' || payload['stage'] !== 'live') return null;
    const outcome = isJsonObject(payload['outcome']) ? payload['outcome'] : {};
    const { storageCode } = outcome;
    const { isFull, mayFail } = this.#store;
    if (storageCode === 'STORE_IO' && !mayFail) return 'its store has not failed';
    if (storageCode === 'STORAGE_LIMIT_EXCEEDED' && !isFull) return 'its store is not full';
    const probeEventId = textOf(payload['probeEventId']);
    const isOwn = writer !== null && this.#probers.get(probeEventId) === writer;
    return { probeEventId, outcome, isOwn };
  }

  /** The rule that is broken by starting or deciding work now, or null. */
  work(): string | null {
    if (!this.#isRequired) return null;
    if (this.#probes === 0) return 'no engine was checked before';
    if (this.#open !== null) return `probe ${this.#open} is open`;
    return this.#paused === null ? null : 'the checks are paused';
  }

  /** A fact from a check follows the end of the probe that has shown it. */
  proves(payload: JsonObject, before: EventEnvelope | null): string | null {
    if (before?.type !== 'preflight:probe-finished') return 'no finished probe stands before it';
    const finished = isJsonObject(before.payload) ? before.payload : {};
    const outcome = isJsonObject(finished['outcome']) ? finished['outcome'] : {};
    const source = isJsonObject(payload['source']) ? payload['source'] : {};
    if (textOf(source['probeEventId']) !== finished['probeEventId'])
      return 'it names another probe';
    return outcome['failure'] === payload['failure'] ? null : 'the probe shows something else';
  }
}
