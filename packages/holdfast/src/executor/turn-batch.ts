/**
 * The events of one turn, in the order in which they will stand. Each is folded as it is written,
 * so later parts of the turn see it; if the append fails, the machine is thrown away.
 */
import { assert } from '../base/assert.ts';
import { type JsonValue, sealJson } from '../base/json.ts';
import type { IsoTime } from '../base/time.ts';
import type { DispatchCommand } from '../graph/commands.ts';
import { type EventPayloads, type EventType, eventCatalog } from '../history/catalog.ts';
import { derivedEventId, type NewEvent } from '../history/envelope.ts';
import type { TypedEvent } from '../run/run-fold.ts';
import type { RunMachine } from '../run/run-machine.ts';
import { jsonBound } from '../store/json-size.ts';

/** What an event costs in a batch beside its payload: a generous bound. */
const EVENT_OVERHEAD_BYTES = 256;

/** What decides about the next steps once the batch is durable. */
export interface LaunchRequest {
  readonly position: string;
  /** True when an answer has already allowed what the action policy would ask. */
  readonly policyAnswered: boolean;
}

export class TurnBatch {
  readonly machine: RunMachine;
  readonly now: number;
  readonly at: IsoTime;
  /** Who writes; one mark a batch, so that no two writers ever write identical ones. */
  readonly writer: string;
  /** The sequence of the stream's end before this batch. */
  readonly expected: number;
  readonly events: NewEvent[] = [];
  /** Positions whose node code runs once the batch is durable. */
  readonly launches: LaunchRequest[] = [];
  /** Paused positions that are to be re-opened and found no free slot. */
  readonly deferred: string[] = [];
  /** Whether something was written after which the graph is asked again. */
  asksDecision = false;
  /** Whether whoever drives the run has something to do, although nothing is written. */
  wakesOwner = false;
  #bytes = 0;
  #isCut = false;

  constructor(machine: RunMachine, made: Pick<TurnBatch, 'writer' | 'now' | 'at'>) {
    this.machine = machine;
    this.writer = made.writer;
    this.now = made.now;
    this.at = made.at;
    this.expected = machine.fold.sequence;
  }

  /** A bound of the batch's size in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the code of this position runs once the batch is durable. */
  isLaunching(position: string): boolean {
    return this.launches.some((launch) => launch.position === position);
  }

  /** Takes back what was written behind the first `count` events: the machine is then ahead. */
  cutAfter(count: number): void {
    this.events.length = count;
    this.launches.length = 0;
    this.#isCut = true;
  }

  /** Whether the machine has folded more than the batch holds. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get isEmpty(): boolean {
    return this.events.length === 0;
  }

  /** Writes one event; `sized` is the part of its payload that can be large. */
  write<Type extends EventType>(
    type: Type,
    payload: EventPayloads[Type],
    sized: JsonValue = null,
    id?: string,
  ): number {
    const event = this.#event(type, payload, id);
    this.#bytes += EVENT_OVERHEAD_BYTES + jsonBound(sized);
    try {
      this.machine.apply(event);
    } catch (error) {
      this.#notFolded(event, error);
    }
    return event.sequence;
  }

  /** Writes the dispatch of a command that the machine has just decided. */
  writeDispatch(payload: EventPayloads['graph:node-dispatched'], command: DispatchCommand): void {
    const event = this.#event('graph:node-dispatched', payload);
    this.#bytes += EVENT_OVERHEAD_BYTES + 3 * payload.position.length;
    try {
      this.machine.applyDecided(event, command);
    } catch (error) {
      this.#notFolded(event, error);
    }
  }

  /** What the record's own rules refuse is never written; what graph code cannot fold is. */
  #notFolded({ sequence }: TypedEvent, error: unknown): never {
    if (this.machine.fold.sequence < sequence) this.events.pop();
    throw error;
  }

  #event<Type extends EventType>(
    type: Type,
    payload: EventPayloads[Type],
    id?: string,
  ): TypedEvent {
    const frozen = sealJson(payload);
    const { version, check } = eventCatalog[type];
    // What could not be read again must never be written: it would end the run for good.
    const fault = isBuiltHere(type) ? null : check(frozen as unknown as JsonValue);
    assert(fault === null, `a ${type} event is well formed (${fault})`);
    this.events.push(
      this.#newEvent({ type, version, payload: frozen as unknown as JsonValue }, id),
    );
    const sequence = this.expected + this.events.length;
    const eventId = id ?? derivedEventId(this.machine.fold.runId, sequence);
    return { type, sequence, id: eventId, payload: frozen } as TypedEvent;
  }

  #newEvent(
    { type, version, payload }: Pick<NewEvent, 'type' | 'version' | 'payload'>,
    id?: string,
  ) {
    const causationId = this.events.length === 0 ? this.writer : null;
    const event: NewEvent = { type, version, timestamp: this.at, causationId, payload };
    return id === undefined ? event : { ...event, id };
  }
}

/** Events whose every part is checked before it comes here; they are the hot ones. */
function isBuiltHere(type: EventType): boolean {
  return (
    type === 'graph:node-dispatched' ||
    type === 'graph:node-attempt-started' ||
    type === 'graph:node-completed'
  );
}
