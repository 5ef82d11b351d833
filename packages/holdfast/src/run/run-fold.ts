/**
 * The fold of one run's events into what the executor needs: open positions, pauses, sub-steps,
 * signals, and whether the run was cancelled or has ended. It knows no graph code.
 *
 * Invariants: it accepts only histories that the record's rules allow and names the event that
 * breaks one; `open(save())` continues exactly as the fold that was saved.
 */

import { isJsonObject, type JsonValue } from '../base/json.ts';
import {
  type EventPayloads,
  type EventType,
  eventCatalog,
  isEventType,
} from '../history/catalog.ts';
import type { EventEnvelope } from '../history/envelope.ts';
import { ChildBook } from './child-book.ts';
import { EngineFacts, type SavedEngineFacts } from './engine-facts.ts';
import { LaneBook } from './lane-book.ts';
import type { OpenPause, OpenWait, PositionRecord, StepRecord } from './position-record.ts';
import { PositionTable } from './position-table.ts';
import { PreflightMachine, type SavedPreflight } from './preflight/preflight-machine.ts';
import { preflightPlan } from './preflight/preflight-plan.ts';
import { RetryBook } from './retry-book.ts';
import { GraphExecutionError } from './run-error.ts';
import { SignalBox } from './signal-box.ts';
import { StepBook } from './step-book.ts';

/** A folded event: its payload is known to fit its type. */
export type TypedEvent = {
  readonly [Type in EventType]: {
    readonly type: Type;
    readonly sequence: number;
    readonly id: string;
    readonly payload: EventPayloads[Type];
  };
}[EventType];

/** The `graph:run-finished` payload. */
export type RunEnd = EventPayloads['graph:run-finished'];

type DispatchPayload = EventPayloads['graph:node-dispatched'];

/** What a dispatch event does not hold: the input that the decision gave it. */
export type DispatchInput = JsonValue;

export class RunFold {
  readonly runId: string;
  readonly positions: PositionTable;
  readonly signals: SignalBox;
  readonly steps: StepBook;
  readonly engines: EngineFacts;
  readonly children: ChildBook;
  readonly retries: RetryBook;
  readonly preflight: PreflightMachine;
  #sequence = 0;
  #cancel: EventPayloads['graph:cancel-requested'] | null = null;
  #cancelSequence = 0;
  #end: RunEnd | null = null;
  #dispatches = 0;

  constructor(runId: string, saved: SavedFold | null = null, lanes: LaneBook = LaneBook.none) {
    this.runId = runId;
    this.engines = new EngineFacts(lanes, saved?.engines);
    const { dead } = this.engines;
    const plan = preflightPlan(lanes.plan);
    this.preflight = new PreflightMachine(plan, (each) => dead.isDead(each), saved?.preflight);
    this.signals = new SignalBox(saved?.signals);
    this.steps = new StepBook(saved?.steps);
    this.children = new ChildBook(saved?.children);
    this.retries = new RetryBook(saved?.failed);
    this.positions = new PositionTable(saved?.open, saved?.settled);
    if (saved === null) return;
    this.#sequence = saved.sequence;
    this.#cancel = saved.cancel;
    this.#cancelSequence = saved.cancelSequence;
    this.#dispatches = saved.dispatches;
  }

  /** The sequence of the last event folded. */
  get sequence(): number {
    return this.#sequence;
  }

  get cancelRequested(): EventPayloads['graph:cancel-requested'] | null {
    return this.#cancel;
  }

  /** Where the cancel was requested; 0 = it was not. */
  get cancelSequence(): number {
    return this.#cancelSequence;
  }

  get end(): RunEnd | null {
    return this.#end;
  }

  /** How many dispatches were recorded. */
  get dispatches(): number {
    return this.#dispatches;
  }

  /** True when this position was ever dispatched. */
  wasDispatched(position: string): boolean {
    return this.positions.get(position) !== undefined || this.positions.isSettled(position);
  }

  /** Why this dispatch is no retry of what it names, or null. */
  retryFault(dispatch: Pick<DispatchPayload, 'nodeId' | 'position' | 'retryOf'>): string | null {
    return this.retries.fault(dispatch, (position) => this.wasDispatched(position));
  }

  /** The pauses that wait for somebody, in the order of pausing: none once the run has ended. */
  openWaits(): readonly OpenWait[] {
    if (this.#end !== null) return [];
    return [...this.positions.with('paused')].flatMap((record) =>
      record.pause === null || record.pause.released ? [] : [{ record, pause: record.pause }],
    );
  }

  /** Folds one event; `input` is the decided input of a dispatch. */
  apply(event: TypedEvent, input: DispatchInput = null): void {
    if (event.sequence !== this.#sequence + 1 && this.#sequence !== 0) {
      refuse(event, `sequence ${event.sequence} follows ${this.#sequence}`);
    }
    if ((event.sequence === 1) !== (event.type === 'graph:run-started')) {
      refuse(event, 'a run begins with graph:run-started, once');
    }
    if (this.#end !== null && !isLateNote(event)) refuse(event, 'the run has finished already');
    const fault = this.preflight.fault(event);
    if (fault !== null) refuse(event, fault);
    this.#fold(event, input);
    this.preflight.apply(event);
    this.#sequence = event.sequence;
  }

  #fold(event: TypedEvent, input: DispatchInput): void {
    switch (event.type) {
      case 'graph:run-started':
        return;
      case 'graph:node-dispatched':
        return this.#dispatched(event.payload, event, input);
      case 'graph:node-attempt-started':
        return this.#started(event.payload, event);
      case 'graph:node-step-started':
      case 'graph:node-step-recorded':
        return this.#step(event);
      case 'graph:engine-attempt-recorded':
        return this.#engineCalled(event.payload, event);
      case 'graph:model-unavailable':
        return this.#laneDied(event.payload, event);
      case 'graph:node-completed':
        return this.#completed(event.payload, event);
      case 'graph:node-failed':
        return this.#settle(event.payload.position, event.payload.nodeId, event);
      case 'graph:node-paused':
        return this.#paused(event.payload, event);
      case 'graph:node-resumed':
        return this.#resumed(event.payload, event);
      case 'graph:pause-answered':
        return this.#answered(event.payload, event);
      case 'graph:timer-fired':
        this.#requirePause(event.payload.pauseId, event.payload.position, event);
        return;
      case 'graph:attempt-reconciled':
        return this.#reconciled(event.payload, event);
      case 'graph:signal-received':
        return this.#signalled(event.payload, event.sequence);
      case 'graph:cancel-requested':
        if (this.#cancel === null) this.#cancelSequence = event.sequence;
        this.#cancel ??= event.payload;
        return;
      case 'graph:run-finished':
        return this.#finished(event.payload, event);
    }
  }

  #dispatched(payload: DispatchPayload, event: TypedEvent, input: DispatchInput): void {
    const { nodeId, position, inputDigest, at, notBefore = null, retryOf = position } = payload;
    if (this.wasDispatched(position)) refuse(event, `${position} was dispatched before`);
    if (payload.decidedAt >= event.sequence) refuse(event, 'it was decided after it was recorded');
    const fault = this.retryFault(payload);
    if (fault !== null) refuse(event, fault);
    this.retries.tried(retryOf);
    this.#dispatches += 1;
    this.positions.set({
      nodeId,
      position,
      input,
      inputDigest,
      sequence: event.sequence,
      at,
      notBefore,
      firstPosition: retryOf,
      status: 'queued',
      started: null,
      startedSequence: 0,
      pause: null,
      lastCall: null,
      dueAt: null,
    });
  }

  #started(payload: EventPayloads['graph:node-attempt-started'], event: TypedEvent): void {
    const { nodeId, position, attemptId } = payload.identity;
    const record = this.#requireOpen(position, nodeId, event);
    if (record.status !== 'queued') refuse(event, `${position} has a start record already`);
    if (payload.childRunId !== undefined) this.children.add(payload.childRunId, nodeId);
    this.positions.set({
      ...record,
      status: 'running',
      started: { attemptId, retrySafe: payload.retrySafe },
      startedSequence: event.sequence,
    });
  }

  #step(
    event: Extract<TypedEvent, { type: 'graph:node-step-started' | 'graph:node-step-recorded' }>,
  ): void {
    const { position, step } = event.payload;
    const record = this.#requireOpen(position, null, event);
    if (record.started === null) refuse(event, `${position} has no start record`);
    if (event.type === 'graph:node-step-started') {
      if (!this.steps.start(record.firstPosition, step)) {
        refuse(event, `step ${step} is recorded already`);
      }
      return;
    }
    const outcome = stepOutcome(event.payload);
    if (outcome === null) refuse(event, 'a step has either a result or a code and a message');
    this.steps.record(record.firstPosition, step, outcome);
    const isLast = this.steps.uncertain(record.firstPosition).length === 0;
    if (record.pause?.request.kind === 'reconcile-attempt' && isLast) this.#release(record);
  }

  #engineCalled(payload: EventPayloads['graph:engine-attempt-recorded'], event: TypedEvent): void {
    const record = this.#requireOpen(payload.position, payload.nodeId, event);
    const fault = this.engines.receipt(payload, record);
    if (fault !== null) refuse(event, fault);
    const { sequence, requested, failure = null } = payload;
    this.positions.set({ ...record, lastCall: { sequence, requested, failure } });
  }

  #laneDied(payload: EventPayloads['graph:model-unavailable'], event: TypedEvent): void {
    const { position, nodeId = null, source } = payload;
    const isOfAttempt = source.kind === 'attempt';
    if (isOfAttempt !== (position !== undefined) || isOfAttempt !== (nodeId !== null)) {
      refuse(event, 'a fact of an attempt names its node and position, and no other does');
    }
    const record = position === undefined ? null : this.#requireOpen(position, nodeId, event);
    const fault = this.engines.unavailable(payload, record);
    if (fault !== null) refuse(event, fault);
  }

  #completed(payload: EventPayloads['graph:node-completed'], event: TypedEvent): void {
    const record = this.#requireOpen(payload.position, payload.nodeId, event);
    if (payload.signalId !== undefined && !this.signals.consume(payload.signalId)) {
      refuse(event, `signal ${payload.signalId} was not received, or was consumed before`);
    }
    this.steps.forget(record.firstPosition);
    this.#settle(payload.position, payload.nodeId, event);
  }

  /** One for a child run that has ended meanwhile is the run's own. */
  #signalled(payload: EventPayloads['graph:signal-received'], sequence: number): void {
    if (this.signals.has(payload.signalId)) return;
    this.signals.receive(payload, sequence);
    const { position, signalId } = payload;
    if (position !== undefined && this.positions.get(position) !== undefined) {
      this.signals.hand(signalId, position);
    }
  }

  #settle(position: string, nodeId: string, event: TypedEvent): void {
    const record = this.#requireOpen(position, nodeId, event);
    const abandoned = event.type === 'graph:node-failed' && event.payload.abandoned === true;
    if (record.status === 'queued' && !abandoned) refuse(event, `${position} was never started`);
    this.positions.settle(record);
    this.signals.forget(position);
    if (event.type === 'graph:node-failed') this.retries.failed(record.firstPosition, nodeId);
  }

  #paused(payload: EventPayloads['graph:node-paused'], event: TypedEvent): void {
    const record = this.#requireOpen(payload.position, payload.nodeId, event);
    if (record.status !== 'running') refuse(event, `${payload.position} is not running`);
    const pause: OpenPause = {
      pauseId: event.id,
      sequence: event.sequence,
      reason: payload.reason,
      request: payload.request,
      released: false,
    };
    const own = payload.request.dueAt ?? null;
    // A wait keeps the deadline it once had; a child's next wake is another each time.
    const dueAt = payload.request.kind === 'child' ? own : (record.dueAt ?? own);
    this.positions.set({ ...record, status: 'paused', pause, dueAt });
  }

  #resumed(payload: EventPayloads['graph:node-resumed'], event: TypedEvent): void {
    const record = this.#requireOpen(payload.position, payload.nodeId, event);
    if (record.status === 'queued') refuse(event, `${payload.position} has no start record`);
    const { signalId } = payload;
    if (signalId !== undefined && !this.signals.hand(signalId, payload.position)) {
      refuse(event, `signal ${signalId} was not received, or was consumed before`);
    }
    this.steps.allowAgain(record.firstPosition);
    this.positions.set({
      ...record,
      status: 'running',
      startedSequence: event.sequence,
      pause: null,
    });
  }

  #answered(payload: EventPayloads['graph:pause-answered'], event: TypedEvent): void {
    const record = this.#requirePause(payload.pauseId, payload.position, event);
    // Any other answer is followed by the outcome that it stands for.
    if (record.pause?.request.kind === 'policy' && allows(payload.answer)) this.#release(record);
  }

  #reconciled(payload: EventPayloads['graph:attempt-reconciled'], event: TypedEvent): void {
    const record = this.#requirePause(payload.pauseId, payload.position, event);
    if (record.started?.attemptId !== payload.attemptId) refuse(event, 'it names another attempt');
    const { firstPosition } = record;
    if (payload.step === undefined) {
      if (payload.kind === 'retry') this.#release(record);
      // Who says that the attempt has failed says so of its steps: a policy retry runs them again.
      if (payload.kind === 'failed') this.steps.allowAgain(firstPosition);
      return;
    }
    if (!this.steps.uncertain(firstPosition).includes(payload.step)) {
      refuse(event, `step ${payload.step} is not uncertain`);
    }
    // A result or a failure of the step stands in the event that follows.
    if (payload.kind !== 'retry') return;
    this.steps.retry(firstPosition, payload.step);
    if (this.steps.uncertain(firstPosition).length === 0) this.#release(record);
  }

  #release(record: PositionRecord): void {
    if (record.pause === null) return;
    this.positions.set({ ...record, pause: { ...record.pause, released: true } });
  }

  #finished(payload: RunEnd, event: TypedEvent): void {
    if (payload.outcome === 'complete' && this.positions.count() > 0) {
      const open = this.positions.all().map((record) => record.position);
      refuse(event, `the run completed while ${open.slice(0, 5).join(', ')} was open`);
    }
    this.#end = payload;
  }

  #requireOpen(position: string, nodeId: string | null, event: TypedEvent): PositionRecord {
    const record = this.positions.get(position);
    if (record === undefined) {
      return refuse(
        event,
        this.positions.isSettled(position)
          ? `${position} is settled already`
          : `${position} was never dispatched`,
      );
    }
    if (nodeId !== null && record.nodeId !== nodeId) {
      refuse(event, `${position} is an occurrence of ${record.nodeId}, not of ${nodeId}`);
    }
    return record;
  }

  #requirePause(pauseId: string, position: string, event: TypedEvent): PositionRecord {
    const record = this.positions.get(position);
    if (record?.pause?.pauseId === pauseId && !record.pause.released) return record;
    const open = record?.pause?.pauseId ?? 'none';
    return refuse(event, `pause ${pauseId} is not open (open: ${open})`);
  }

  /** A JSON value from which `new RunFold(runId, …)` continues. */
  save(): SavedFold {
    return {
      sequence: this.#sequence,
      open: this.positions.all(),
      settled: this.positions.settled(),
      failed: this.retries.save(),
      steps: this.steps.save(),
      signals: this.signals.save(),
      cancel: this.#cancel,
      cancelSequence: this.#cancelSequence,
      dispatches: this.#dispatches,
      ...(this.children.isEmpty ? {} : { children: this.children.all() }),
      ...(this.engines.lanes.isEmpty ? {} : { engines: this.engines.save() }),
      ...(this.preflight.plan === null ? {} : { preflight: this.preflight.save() }),
    };
  }
}

/** What a snapshot keeps of a run's fold. An ended run needs no snapshot: its end is an event. */
export interface SavedFold {
  readonly sequence: number;
  readonly open: readonly PositionRecord[];
  readonly settled: readonly string[];
  readonly failed: ReturnType<RetryBook['save']>;
  /** Absent where no run stands for an attempt. */
  readonly children?: ReturnType<ChildBook['all']>;
  readonly steps: ReturnType<StepBook['save']>;
  readonly signals: ReturnType<SignalBox['save']>;
  readonly cancel: EventPayloads['graph:cancel-requested'] | null;
  readonly cancelSequence: number;
  readonly dispatches: number;
  readonly engines?: SavedEngineFacts;
  readonly preflight?: SavedPreflight;
}

/** Checks an envelope against the catalog. Throws `INVALID_EVENT` naming sequence and type. */
export function typedEvent(envelope: EventEnvelope): TypedEvent {
  const { type, version, payload, sequence, id } = envelope;
  if (!isEventType(type)) return refuse(envelope, 'this version of Holdfast knows no such type');
  const known = eventCatalog[type];
  if (version !== known.version) {
    refuse(envelope, `version ${version} is not known, only ${known.version}`);
  }
  const fault = known.check(payload);
  if (fault !== null) refuse(envelope, fault);
  return { type, sequence, id, payload: payload as never } as TypedEvent;
}

function stepOutcome(
  payload: EventPayloads['graph:node-step-recorded'],
): Exclude<StepRecord, { kind: 'started' }> | null {
  const { result, code, message, retryable } = payload;
  if (result !== undefined) {
    return code === undefined && message === undefined ? { kind: 'completed', result } : null;
  }
  if (code === undefined || message === undefined) return null;
  const verdict = retryable === undefined ? {} : { retryable };
  return { kind: 'failed', position: payload.position, code, message, ...verdict };
}

/** The answer that lets a policy pause go on; every other one is followed by its outcome. */
function allows(answer: JsonValue): boolean {
  return isJsonObject(answer) && answer['decision'] === 'allow';
}

/** Signals and cancel requests come from outside and may arrive after the end. */
export function isLateNote(event: TypedEvent): boolean {
  return event.type === 'graph:signal-received' || event.type === 'graph:cancel-requested';
}

function refuse(event: { sequence: number; type: string }, rule: string): never {
  throw new GraphExecutionError(
    'INVALID_EVENT',
    `Event ${event.sequence} (${event.type}) breaks the record's rules: ${rule}.`,
    { sequence: event.sequence, type: event.type },
  );
}
