/**
 * A run in memory: the structural fold and the graph's cursor, moved together by one event at a
 * time. It is the only place that folds events into graph state and asks for decisions.
 *
 * Invariants: a recorded dispatch is accepted only if the graph decides it at the recorded place
 * (`DETERMINISM_VIOLATION` otherwise); graph code sees `reduced` events only, in stream order.
 */
import type { MerkleDigest } from '../base/digest.ts';
import { errorText, isHoldfastError } from '../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { DispatchCommand, GraphCommand } from '../graph/commands.ts';
import type { AnyCompiledGraph, GraphCursor } from '../graph/graph-type.ts';
import { eventCatalog, reducedNames } from '../history/catalog.ts';
import type { EventEnvelope } from '../history/envelope.ts';
import { DecisionCheck, violation } from './decision-check.ts';
import type { LaneBook } from './lane-book.ts';
import { GraphExecutionError } from './run-error.ts';
import { RunFold, type SavedFold, type TypedEvent, typedEvent } from './run-fold.ts';

export interface RunMachineOptions {
  readonly runId: string;
  readonly graph: AnyCompiledGraph;
  readonly digest: MerkleDigest;
  /** The lanes of the run's plan; none by default. */
  readonly lanes?: LaneBook;
}

/** What a snapshot holds: the fold, the cursor, and which graph they belong to. */
export interface SavedMachine extends JsonObject {
  readonly graphDigest: string;
  readonly fold: JsonObject;
  readonly cursor: JsonValue;
  readonly askedAt: number;
  readonly outcomeAt: number;
  readonly decidedAt: number;
}

export class RunMachine {
  readonly fold: RunFold;
  readonly #graph: AnyCompiledGraph;
  readonly #cursor: GraphCursor<unknown>;
  readonly #digest: MerkleDigest;
  #decision: DecisionCheck | null = null;
  /** The sequence of the last event after which the graph is asked, and of the last but signals. */
  #askedAt = 0;
  #outcomeAt = 0;
  /** The `decidedAt` of the last dispatch that was recorded. */
  #decidedAt = 0;

  constructor(options: RunMachineOptions, saved: SavedMachine | null = null) {
    this.#graph = options.graph;
    this.#digest = options.digest;
    const fold = saved === null ? null : savedFold(saved);
    this.fold = new RunFold(options.runId, fold, options.lanes);
    this.#cursor = options.graph.open(saved?.cursor);
    this.#askedAt = saved?.askedAt ?? 0;
    this.#outcomeAt = saved?.outcomeAt ?? 0;
    this.#decidedAt = saved?.decidedAt ?? 0;
  }

  /**
   * True while a recorded decision stands: nothing has happened since after which the graph is
   * asked. A graph that does not know of what is in flight would decide the same again.
   */
  get isDecided(): boolean {
    return this.#decidedAt > 0 && this.#decidedAt >= this.#askedAt;
  }

  /** True when nothing but signals has come since a decision was recorded. */
  get isOnlySignalled(): boolean {
    return !this.isDecided && this.#decidedAt > 0 && this.#decidedAt >= this.#outcomeAt;
  }

  /** Folds one event of the stream. Throws `INVALID_EVENT`, `DETERMINISM_VIOLATION`. */
  applyEnvelope(envelope: EventEnvelope): void {
    this.apply(typedEvent(envelope));
  }

  /** Folds one event whose payload is known to be well formed. */
  apply(event: TypedEvent): void {
    const input =
      event.type === 'graph:node-dispatched' ? this.#decided(event, event.payload).input : null;
    this.#fold(event, input);
  }

  /** Folds the dispatch of a command that `decide` or `unrecorded` has just returned. */
  applyDecided(event: TypedEvent, command: DispatchCommand): void {
    this.#decision?.accept();
    this.#fold(event, command.input);
  }

  #fold(event: TypedEvent, input: JsonValue): void {
    this.fold.apply(event, input);
    if (event.type === 'graph:node-dispatched') this.#decidedAt = event.payload.decidedAt;
    else if (asksDecision(event)) {
      this.#askedAt = event.sequence;
      if (event.type !== 'graph:signal-received') this.#outcomeAt = event.sequence;
    }
    const type = reducedNames[event.type];
    if (type === null || isForChild(event)) return;
    const { version } = eventCatalog[event.type];
    this.#graphCode(`folded ${type}`, () =>
      this.#cursor.apply({ type, version, payload: event.payload as unknown as JsonValue }),
    );
  }

  /**
   * The graph's next commands: `compensate` in `decide`'s place once a cancel is requested.
   * Throws `GRAPH_CODE_FAILED`, `INVALID_GRAPH_COMMAND`.
   */
  decide(): readonly GraphCommand[] {
    const commands =
      this.fold.cancelRequested === null
        ? this.#graphCode('decided', () => this.#cursor.decide())
        : this.#graphCode('compensated', () => this.#compensate());
    this.#decision = new DecisionCheck(this.fold.sequence, commands);
    return commands;
  }

  /** Dispatches of a decision of which only a part was recorded: they come before anything else. */
  unrecorded(): { readonly decidedAt: number; readonly dispatches: readonly DispatchCommand[] } {
    return {
      decidedAt: this.#decision?.decidedAt ?? 0,
      dispatches: this.#decision?.missing() ?? [],
    };
  }

  /** The graph's state. */
  state(): unknown {
    return this.#cursor.state();
  }

  save(): SavedMachine {
    return {
      graphDigest: this.#graph.definition.digest,
      fold: this.fold.save() as unknown as JsonObject,
      cursor: this.#cursor.save(),
      askedAt: this.#askedAt,
      outcomeAt: this.#outcomeAt,
      decidedAt: this.#decidedAt,
    };
  }

  /** Errors with a code of their own say enough. */
  #graphCode<T>(doing: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (isHoldfastError(error)) throw error;
      const { runId, sequence } = this.fold;
      const { id } = this.#graph.definition.value;
      throw new GraphExecutionError(
        'GRAPH_CODE_FAILED',
        `Graph ${id} threw while it ${doing} at event ${sequence} of run ${runId}: ` +
          errorText(error),
        { runId, sequence },
        error,
      );
    }
  }

  #compensate(): readonly GraphCommand[] {
    return this.#graph.compensate?.(this.#cursor.state() as never) ?? [];
  }

  #decided(
    event: TypedEvent,
    payload: Extract<TypedEvent, { type: 'graph:node-dispatched' }>['payload'],
  ): DispatchCommand {
    if (this.#decision?.decidedAt !== payload.decidedAt) this.#openDecision(event, payload);
    if (this.#decision === null) return violation(payload.position, 'no decision stands there');
    return this.#decision.take(payload, this.#digest);
  }

  #openDecision(
    event: TypedEvent,
    payload: Extract<TypedEvent, { type: 'graph:node-dispatched' }>['payload'],
  ): void {
    const left = this.#decision?.missing()[0];
    if (left !== undefined)
      violation(left.position, 'it was decided, and another decision follows');
    if (payload.decidedAt !== this.fold.sequence) {
      throw new GraphExecutionError(
        'INVALID_EVENT',
        `Event ${event.sequence} (${event.type}) was decided at ${payload.decidedAt}, ` +
          `but the event before it is ${this.fold.sequence}.`,
        { sequence: event.sequence, type: event.type },
      );
    }
    this.decide();
  }
}

/**
 * Outcomes, and what comes from outside. An uncertain attempt is no outcome: the graph is asked
 * once somebody has said what became of it.
 */
function asksDecision(event: TypedEvent): boolean {
  switch (event.type) {
    case 'graph:signal-received':
      return !isForChild(event);
    case 'graph:node-completed':
    case 'graph:node-failed':
    case 'graph:cancel-requested':
      return true;
    case 'graph:node-paused':
      return event.payload.request.kind !== 'reconcile-attempt';
    default:
      return false;
  }
}

/** A message for a child run is that run's affair: its parent's graph is told nothing. */
function isForChild(event: TypedEvent): boolean {
  return event.type === 'graph:signal-received' && event.payload.position !== undefined;
}

/** True when a snapshot body was saved by a machine of this graph. */
export function isSavedMachine(body: JsonValue, graphDigest: string): body is SavedMachine {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const saved = body as JsonObject;
  const { fold } = saved;
  // A fold without them was saved by a version that did not know what may be tried again.
  if (!isJsonObject(fold) || !('failed' in fold)) return false;
  return saved['graphDigest'] === graphDigest && 'cursor' in saved;
}

function savedFold(saved: SavedMachine): SavedFold {
  return saved.fold as unknown as SavedFold;
}
