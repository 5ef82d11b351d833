/** What mutants of the executor and of its stores are made with. */
import { cloneFrozenJson, type EventEnvelope, type JsonObject, type RunStorage } from 'holdfast';
import type { SimulationForm, SimulationOptions, SimulationSeams } from 'holdfast/testing';

export interface Mutant {
  readonly name: string;
  /** The runs in which it is looked for; all by default. */
  readonly form?: SimulationForm;
  /** What makes it show soon; the rest is the seed's. */
  readonly options?: Partial<SimulationOptions>;
  readonly seams?: SimulationSeams;
  /** Replaces a part of the executor; gives back the way to mend it. */
  readonly plant?: () => () => void;
}

/** One owner, and nothing goes wrong by itself. */
export const CALM = {
  owners: 1,
  nodes: 9,
  halts: 0,
  shutdowns: 0,
  crashes: 0,
  freezes: 0,
  ioErrors: 0,
  cancelAtMs: null,
} as const;

export type Events = RunStorage['eventStore'];
export type Append = Events['append'];

/** Replaces a method; gives back the way to mend it. */
export function replace<Part extends object, Name extends keyof Part>(
  prototype: Part,
  name: Name,
  mutant: Part[Name],
): () => void {
  const original = prototype[name];
  prototype[name] = mutant;
  return () => {
    prototype[name] = original;
  };
}

/** `storage` with other events. */
export function withEvents(storage: RunStorage, changes: Partial<Events>): RunStorage {
  return { ...storage, eventStore: { ...storage.eventStore, ...changes } };
}

/** The event with other fields in its payload. */
export function changed(event: EventEnvelope, fields: JsonObject): EventEnvelope {
  return { ...event, payload: cloneFrozenJson({ ...(event.payload as JsonObject), ...fields }) };
}
