/**
 * What a run looks like: a read model over its events, for people and programs that watch.
 *
 * It needs no graph code and accepts any history that a store can hold: events it does not know
 * are passed over, since a view must never be the reason that a run cannot be looked at.
 */
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { type IsoTime, millisecondsOf } from '../base/time.ts';
import type { EventPayloads, EventType, PauseRequest } from '../history/catalog.ts';
import { eventCatalog, isEventType } from '../history/catalog.ts';
import type { EventEnvelope } from '../history/envelope.ts';

/** Where one dispatch stands. `abandoned`: nobody waited for its end. */
export type OccurrenceStatus =
  | 'queued'
  | 'running'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'abandoned';

/** One sub-step of an occurrence. */
export interface StepView {
  readonly name: string;
  readonly status: 'started' | 'completed' | 'failed';
}

/** One dispatch and what became of it. */
export interface OccurrenceView {
  readonly nodeId: string;
  readonly position: string;
  readonly status: OccurrenceStatus;
  readonly retryOf: string | null;
  readonly dispatchedAt: IsoTime;
  readonly notBefore: IsoTime | null;
  readonly startedAt: IsoTime | null;
  readonly endedAt: IsoTime | null;
  /** From the first start to the end, waits included; null while it is open. */
  readonly durationMs: number | null;
  /** How often its code was started: 1, and one more for each crash retry or resume. */
  readonly starts: number;
  readonly retrySafe: boolean | null;
  /** The run that stands for the occurrence; null when node code does. */
  readonly childRunId: string | null;
  readonly result: JsonValue;
  readonly code: string | null;
  readonly message: string | null;
  readonly pause: OccurrencePause | null;
  readonly steps: readonly StepView[];
}

/** What an occurrence waits for. */
export interface OccurrencePause {
  readonly pauseId: string;
  readonly reason: string;
  readonly request: PauseRequest;
}

/** Where a run stands; `paused`: all that is open waits, or the engine checks do. */
export type RunViewStatus = 'running' | 'paused' | 'complete' | 'fail' | 'cancelled';

/** Why the engine checks wait for a person. */
export interface PreflightPauseView {
  readonly preflightEventId: string;
  readonly reason: EventPayloads['preflight:paused']['reason'];
  /** Which check of which target it was and what was wrong, in one line. */
  readonly message: string;
}

/** A run as a screen shows it. */
export interface RunView {
  readonly runId: string;
  readonly graphId: string | null;
  readonly graphKind: string | null;
  readonly status: RunViewStatus;
  readonly startedAt: IsoTime | null;
  readonly endedAt: IsoTime | null;
  readonly sequence: number;
  /** In dispatch order. */
  readonly occurrences: readonly OccurrenceView[];
  readonly cancel: EventPayloads['graph:cancel-requested'] | null;
  /** The open pause of the engine checks: nothing goes on before it is resumed. */
  readonly preflightPause: PreflightPauseView | null;
  readonly output: JsonValue;
  readonly code: string | null;
  readonly message: string | null;
}

/** A view that grows with its events. */
export class RunViewFold {
  readonly #runId: string;
  readonly #occurrences = new Map<string, OccurrenceView>();
  #identity: { readonly graphId: string | null; readonly graphKind: string | null } = {
    graphId: null,
    graphKind: null,
  };
  #startedAt: IsoTime | null = null;
  #endedAt: IsoTime | null = null;
  #sequence = 0;
  #cancel: RunView['cancel'] = null;
  #preflightPause: PreflightPauseView | null = null;
  #end: EventPayloads['graph:run-finished'] | null = null;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Takes one event in; returns the occurrence it changed, if it changed one. */
  apply(envelope: EventEnvelope): OccurrenceView | null {
    this.#sequence = envelope.sequence;
    const { type, payload } = envelope;
    if (!isEventType(type) || eventCatalog[type].check(payload) !== null) return null;
    return this.#fold({ type, payload: payload as never }, envelope);
  }

  view(): RunView {
    const end = this.#end;
    return {
      runId: this.#runId,
      ...this.#identity,
      status: end?.outcome ?? this.#openStatus(),
      startedAt: this.#startedAt,
      endedAt: this.#endedAt,
      sequence: this.#sequence,
      occurrences: [...this.#occurrences.values()],
      cancel: this.#cancel,
      preflightPause: end === null ? this.#preflightPause : null,
      output: end?.output ?? null,
      code: end?.code ?? null,
      message: end?.message ?? null,
    };
  }

  #openStatus(): RunViewStatus {
    if (this.#preflightPause !== null) return 'paused';
    const open = [...this.#occurrences.values()].filter(({ endedAt }) => endedAt === null);
    return open.length > 0 && open.every(({ status }) => status === 'paused')
      ? 'paused'
      : 'running';
  }

  #fold(event: KnownEvent, envelope: EventEnvelope): OccurrenceView | null {
    switch (event.type) {
      case 'graph:run-started':
        this.#startedAt = envelope.timestamp;
        this.#identity = identityOf(event.payload.definition);
        return null;
      case 'graph:cancel-requested':
        this.#cancel ??= event.payload;
        return null;
      case 'preflight:paused': {
        const { reason, message } = event.payload;
        this.#preflightPause = { preflightEventId: envelope.id, reason, message };
        return null;
      }
      case 'preflight:resumed':
        this.#preflightPause = null;
        return null;
      case 'graph:run-finished':
        this.#end = event.payload;
        this.#endedAt = envelope.timestamp;
        return null;
      case 'graph:node-dispatched':
        return this.#set(dispatched(event.payload));
      default:
        return this.#change(event, envelope);
    }
  }

  #change(event: KnownEvent, envelope: EventEnvelope): OccurrenceView | null {
    const position = positionOf(event.payload);
    const before = position === null ? undefined : this.#occurrences.get(position);
    if (before === undefined) return null;
    const changed = changedBy(before, event, envelope);
    return changed === null ? null : this.#set({ ...before, ...changed });
  }

  #set(occurrence: OccurrenceView): OccurrenceView {
    this.#occurrences.set(occurrence.position, occurrence);
    return occurrence;
  }
}

/**
 * The view of a whole stream.
 *
 * @example (await viewRun('r1', storage.eventStore.read(stream))).status // 'complete'
 */
export async function viewRun(
  runId: string,
  events: AsyncIterable<EventEnvelope>,
): Promise<RunView> {
  const fold = new RunViewFold(runId);
  for await (const event of events) fold.apply(event);
  return fold.view();
}

type KnownEvent = {
  readonly [Type in EventType]: { readonly type: Type; readonly payload: EventPayloads[Type] };
}[EventType];

function dispatched(payload: EventPayloads['graph:node-dispatched']): OccurrenceView {
  const { nodeId, position, retryOf = null, at, notBefore = null } = payload;
  return {
    nodeId,
    position,
    status: 'queued',
    retryOf,
    dispatchedAt: at,
    notBefore,
    startedAt: null,
    endedAt: null,
    durationMs: null,
    starts: 0,
    retrySafe: null,
    childRunId: null,
    result: null,
    code: null,
    message: null,
    pause: null,
    steps: [],
  };
}

function changedBy(
  before: OccurrenceView,
  event: KnownEvent,
  envelope: EventEnvelope,
): Partial<OccurrenceView> | null {
  const starts = before.starts + 1;
  switch (event.type) {
    case 'graph:node-attempt-started': {
      const { retrySafe, childRunId = null } = event.payload;
      const startedAt = envelope.timestamp;
      return { status: 'running', startedAt, starts, retrySafe, childRunId };
    }
    case 'graph:node-resumed':
      return { status: 'running', pause: null, starts };
    case 'graph:node-paused': {
      const { reason, request } = event.payload;
      return { status: 'paused', pause: { pauseId: envelope.id, reason, request } };
    }
    case 'graph:node-completed':
      return ended(before, event.payload.at, { status: 'completed', result: event.payload.result });
    case 'graph:node-failed': {
      const { code, message, abandoned, at } = event.payload;
      const status = abandoned === true ? 'abandoned' : 'failed';
      return ended(before, at, { status, code, message });
    }
    case 'graph:node-step-started':
      return { steps: withStep(before.steps, event.payload.step, 'started') };
    case 'graph:node-step-recorded': {
      const status = event.payload.code === undefined ? 'completed' : 'failed';
      return { steps: withStep(before.steps, event.payload.step, status) };
    }
    default:
      return null;
  }
}

function ended(
  before: OccurrenceView,
  endedAt: IsoTime,
  how: Partial<OccurrenceView>,
): Partial<OccurrenceView> {
  const from = before.startedAt;
  const durationMs = from === null ? null : millisecondsOf(endedAt) - millisecondsOf(from);
  return { ...how, endedAt, durationMs, pause: null };
}

function withStep(
  steps: readonly StepView[],
  name: string,
  status: StepView['status'],
): readonly StepView[] {
  return [...steps.filter((step) => step.name !== name), { name, status }];
}

function positionOf(payload: KnownEvent['payload']): string | null {
  if ('position' in payload) return payload.position;
  return 'identity' in payload ? payload.identity.position : null;
}

function identityOf(definition: JsonValue) {
  const graph = isJsonObject(definition) ? definition['graph'] : undefined;
  const text = (key: string) => {
    const value = isJsonObject(graph) ? graph[key] : undefined;
    return typeof value === 'string' ? value : null;
  };
  return { graphId: text('id'), graphKind: text('kind') };
}
