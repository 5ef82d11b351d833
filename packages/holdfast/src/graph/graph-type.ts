/**
 * The contract of seed 003: what a graph type is and what a compiled one offers.
 *
 * Invariants: every operation is pure; states, events and commands are frozen JSON; the same
 * definition and the same events give the same states and the same commands.
 */
import type { JsonValue } from '../base/json.ts';
import type { GraphCommand } from './commands.ts';
import type { AnyGraphDefinition, CompiledGraphDefinition, GraphDefinition } from './definition.ts';
import type { GraphDescription, GraphDescriptionInput } from './description.ts';
import type { GraphKernel } from './kernel.ts';
import type { GraphRequirements } from './requirements.ts';

/** A recorded fact as graph code sees it: no envelope, no `graph:` prefix. */
export interface GraphEvent<Type extends string = string, Payload = JsonValue> {
  readonly type: Type;
  readonly version: number;
  readonly payload: Payload;
}

/** Why a node's result must not be recorded. `path` is a JSON pointer into the result. */
export interface NodeResultIssue {
  readonly code: string;
  readonly path: string;
  readonly message: string;
}

/**
 * What an executor speaks: a fold in progress. `apply` folds one event, `decide` may be repeated
 * until the next `apply`, and `save` returns what `open` accepts. `state()` always equals the
 * plain fold; what it returns is given away and frozen.
 */
export interface GraphCursor<State = JsonValue> {
  decide(): readonly GraphCommand[];
  apply(event: GraphEvent): void;
  state(): State;
  save(): JsonValue;
}

/** What `compile` returns: the pure operations of one graph. */
export interface GraphTypeCompilation<State, Event, Requirements extends GraphRequirements> {
  readonly requirements: Requirements;
  initialState(): State;
  reduce(state: State, event: Event): State;
  decide(state: State): readonly GraphCommand[];
  describe(): GraphDescriptionInput;
  /** Null, or why this result of this node must not be recorded. Optional. */
  validateNodeResult?(nodeId: string, result: JsonValue): NodeResultIssue | null;
  /** After a cancel request: the next undo, newest first; empty = nothing to undo. Optional. */
  compensate?(state: State): readonly GraphCommand[];
  /** An incremental cursor with the same answers as the plain operations. Optional. */
  open?(saved?: JsonValue): GraphCursor<State>;
}

/** A kind of graph: seed 003, "Implement GraphType". */
export interface GraphType<
  Definition extends AnyGraphDefinition = GraphDefinition,
  State = JsonValue,
  Event = GraphEvent,
  Requirements extends GraphRequirements = GraphRequirements,
> {
  readonly kind: string;
  /** A positive integer. */
  readonly version: number;
  compile(
    definition: Definition,
    kernel: GraphKernel<Definition>,
  ): GraphTypeCompilation<State, Event, Requirements>;
}

/** A graph ready to be folded and asked. All functions ignore extra arguments and `this`. */
export interface CompiledGraphType<
  Definition extends AnyGraphDefinition = GraphDefinition,
  State = JsonValue,
  Event = GraphEvent,
  Requirements extends GraphRequirements = GraphRequirements,
> {
  readonly definition: CompiledGraphDefinition<Definition>;
  readonly requirements: Requirements;
  readonly initialState: () => State;
  readonly reduce: (state: State, event: Event) => State;
  readonly decide: (state: State) => readonly GraphCommand[];
  readonly describe: () => GraphDescription;
  readonly validateNodeResult?: (nodeId: string, result: JsonValue) => NodeResultIssue | null;
  readonly compensate?: (state: State) => readonly GraphCommand[];
  /** A cursor: the graph type's own, or one that wraps `reduce` and `decide`. */
  readonly open: (saved?: JsonValue) => GraphCursor<State>;
}

/** Any compiled graph, whatever its state and events are: what the executor takes. */
export interface AnyCompiledGraph {
  /** Its `value` is frozen JSON: `cloneFrozenJson(value)` types it as such without a copy. */
  readonly definition: CompiledGraphDefinition<AnyGraphDefinition>;
  readonly requirements: GraphRequirements;
  readonly describe: () => GraphDescription;
  readonly validateNodeResult?: (nodeId: string, result: JsonValue) => NodeResultIssue | null;
  readonly compensate?: (state: never) => readonly GraphCommand[];
  readonly open: (saved?: JsonValue) => GraphCursor<unknown>;
}
