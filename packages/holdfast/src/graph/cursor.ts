/**
 * Cursors: a fold in progress, the only thing an executor speaks to.
 *
 * Invariants: `decide` gives the same frozen array until the next `apply`, and its commands are
 * checked once; `state()` and `save()` are frozen JSON; an event is frozen before it is folded.
 */
import { cloneFrozenJson, freezeJson, type JsonValue } from '../base/json.ts';
import type { GraphCommand } from './commands.ts';
import { frozenEvent } from './graph-event.ts';
import type { GraphCursor, GraphEvent } from './graph-type.ts';

/** The plain operations that a default cursor folds with. */
export interface FoldOperations<State, Event = GraphEvent> {
  readonly initialState: () => State;
  readonly reduce: (state: State, event: Event) => State;
  readonly decide: (state: State) => readonly GraphCommand[];
}

/**
 * A cursor over plain operations. What it saves is the state itself.
 *
 * @example const cursor = defaultCursor(compiled); cursor.apply(event); cursor.decide();
 */
export function defaultCursor<State, Event = GraphEvent>(
  operations: FoldOperations<State, Event>,
  saved?: JsonValue,
): GraphCursor<State> {
  let state = saved === undefined ? operations.initialState() : cloneFrozenJson<State>(saved);
  let decision: readonly GraphCommand[] | undefined;
  return Object.freeze({
    decide: (): readonly GraphCommand[] => {
      decision ??= operations.decide(state);
      return decision;
    },
    apply: (event: GraphEvent): void => {
      // The events of a type are what its own reducer accepts; others it must pass over.
      state = operations.reduce(state, event as Event);
      decision = undefined;
    },
    state: () => state,
    save: () => state as JsonValue,
  });
}

/** A graph type's own cursor behind the same promises as the default one. */
export function guardedCursor<State>(
  own: GraphCursor<State>,
  validate: (decision: unknown) => readonly GraphCommand[],
): GraphCursor<State> {
  let decision: readonly GraphCommand[] | undefined;
  return Object.freeze({
    decide: (): readonly GraphCommand[] => {
      decision ??= validate(own.decide());
      return decision;
    },
    apply: (event: GraphEvent): void => {
      own.apply(frozenEvent(event));
      decision = undefined;
    },
    state: () => freezeJson<State>(own.state()),
    save: () => freezeJson<JsonValue>(own.save()),
  });
}
