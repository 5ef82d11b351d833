/**
 * Reads one run's log as it grows and says which rule of the record an event breaks, if any. It
 * shares no code with the library's own fold.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { EventEnvelope } from '../history/envelope.ts';
import {
  type CallWitness,
  cutOffOf,
  endsCutOff,
  LaneReferee,
  provesDead,
} from './sim-lane-referee.ts';
import type { NodePlan, RunPlan } from './sim-plan.ts';
import {
  allows,
  dispatchedPosition,
  isUndo,
  payloadOf,
  type SimPosition,
  type SimStep,
  textOf,
} from './sim-position.ts';
import { ProbeReferee } from './sim-probe-referee.ts';
import { outcomeFault, type StoreTrouble } from './sim-verdict.ts';
import { violationOf } from './sim-violation.ts';

export interface RefereeOptions {
  readonly runId: string;
  readonly plan: RunPlan;
  readonly maxConcurrentAttempts: number;
  /** Whether owners may be mistaken in what they resume. */
  readonly severalOwners: boolean;
  /** What engines have really done. */
  readonly witness: CallWitness;
  readonly store: StoreTrouble;
}

/** What came before in the same append: the reason that an outcome from outside must have. */
type Evidence = Map<string, EventEnvelope>;

export class SimReferee {
  readonly runId: string;
  readonly plan: RunPlan;
  readonly positions: Map<string, SimPosition> = new Map();
  readonly lanes: LaneReferee;
  readonly #probes: ProbeReferee;
  readonly #options: RefereeOptions;
  readonly #steps = new Map<string, Map<string, SimStep>>();
  readonly #stepStarts = new Map<string, number>();
  readonly #signals = new Map<string, { readonly name: string; consumed: boolean }>();
  readonly #answered = new Set<string>();
  /** Who wrote the append at hand. */
  #writer: string | null = null;
  /** What stands before an event in its append. */
  #before: EventEnvelope | null = null;
  /** What stands behind it there. */
  #behind: EventEnvelope | null = null;
  #sequence = 0;
  #decidedAt = 0;
  #cancelled = false;
  /** Whether some attempt has failed: the graph may want to end then. */
  #failed = false;
  #end: JsonObject | null = null;

  constructor(options: RefereeOptions) {
    this.#options = options;
    this.runId = options.runId;
    this.plan = options.plan;
    this.#probes = new ProbeReferee(options.plan.preflight !== null, options.store);
    this.lanes = new LaneReferee(options.runId, options.plan.lanes, options.witness);
  }

  get end(): JsonObject | null {
    return this.#end;
  }

  get isCancelled(): boolean {
    return this.#cancelled;
  }

  get sequence(): number {
    return this.#sequence;
  }

  hasSignal(signalId: string): boolean {
    return this.#signals.has(signalId);
  }

  wasAnswered(pauseId: string): boolean {
    return this.#answered.has(pauseId);
  }

  step(first: string, name: string): SimStep | undefined {
    return this.#steps.get(first)?.get(name);
  }

  /** How often the start of a step was recorded. */
  stepStarts(first: string, name: string): number {
    return this.#stepStarts.get(`${first} ${name}`) ?? 0;
  }

  planOf(nodeId: string): NodePlan | undefined {
    return this.plan.nodes.get(nodeId);
  }

  with(status: SimPosition['status']): readonly SimPosition[] {
    return [...this.positions.values()].filter((position) => position.status === status);
  }

  /** What the run's owner could do at `now` and has not done, or null. */
  undone(now: string): string | null {
    // An engine that is checked may take all of its time: nothing starts before.
    const isHeld = this.#probes.isOpen && !this.#cancelled;
    if (this.#end !== null || isHeld) return null;
    for (const position of this.positions.values()) {
      const what = this.#undoneAt(position, now);
      if (what !== null) return `${position.position} ${what}`;
    }
    return null;
  }

  #undoneAt(position: SimPosition, now: string): string | null {
    const { status, pause, dueAt, notBefore } = position;
    const isChild = this.planOf(position.nodeId)?.kind === 'child';
    if (status === 'settled' || isChild) return null;
    if (this.#cancelled && !isUndo(position)) return 'is open though the run is cancelled';
    const hasSlot = this.with('running').length < this.#options.maxConcurrentAttempts;
    if (status === 'queued') {
      const isDue = notBefore === null || notBefore <= now;
      return isDue && hasSlot && !this.#failed ? 'is due and does not start' : null;
    }
    if (status !== 'paused' || pause === null) return null;
    if (pause.allowed) return hasSlot ? 'is allowed to go on and does not' : null;
    if (dueAt !== null && dueAt <= now) return 'waits beyond its deadline';
    const hasSignal = [...this.#signals.values()].some(
      ({ name, consumed }) => !consumed && name === pause.request['name'],
    );
    return pause.kind === 'signal' && hasSignal ? 'waits for a signal that is there' : null;
  }

  /** Takes in one append. Throws a `SimViolation` that names the rule. */
  read(append: readonly EventEnvelope[]): void {
    const evidence: Evidence = new Map();
    this.#before = null;
    this.#writer = append[0]?.causationId ?? null;
    for (const [place, event] of append.entries()) {
      this.#behind = append[place + 1] ?? null;
      if (event.sequence !== this.#sequence + 1) {
        this.#violate(event, `sequence ${event.sequence} follows ${this.#sequence}`);
      }
      this.#sequence = event.sequence;
      const payload = isJsonObject(event.payload) ? event.payload : {};
      const late = ['graph:signal-received', 'graph:cancel-requested'].includes(event.type);
      if (this.#end !== null && !late) this.#violate(event, 'the run had ended');
      this.#event(event, payload, evidence);
      this.#refuseAfterReceipt(event);
      const inFlight = this.with('running').length;
      if (inFlight > this.#options.maxConcurrentAttempts) {
        this.#violate(event, `${inFlight} attempts are in flight`);
      }
      this.#before = event;
    }
    const last = append.at(-1);
    if (last?.type === RECEIPT && provesDead(payloadOf(last))) {
      this.#violate(last, 'it proves a target dead, and no fact stands behind it');
    }
  }

  /** A receipt that proves something, or of a call that was cut off, has its reason behind it. */
  #refuseAfterReceipt(event: EventEnvelope): void {
    if (this.#before?.type !== RECEIPT) return;
    const receipt = payloadOf(this.#before);
    if (provesDead(receipt) && event.type !== 'graph:model-unavailable') {
      this.#violate(event, 'the receipt before it has proved a target dead');
    }
    if (receipt['requested'] === null && !endsCutOff(event, textOf(receipt['position']))) {
      this.#violate(event, 'the receipt before it is that of a call that was cut off');
    }
  }

  #event(event: EventEnvelope, payload: JsonObject, evidence: Evidence): void {
    switch (event.type) {
      case 'graph:run-started':
        if (event.sequence !== 1) this.#violate(event, 'a run starts once');
        return;
      case 'graph:node-dispatched':
        return this.#dispatched(event, payload);
      case 'graph:node-attempt-started':
        return this.#started(event, payload);
      case 'graph:node-resumed':
        return this.#resumed(event, payload);
      case 'graph:node-paused':
        return this.#paused(event, payload);
      case 'graph:node-completed':
      case 'graph:node-failed':
        return this.#settled(event, payload, evidence);
      case 'graph:node-step-started':
      case 'graph:node-step-recorded':
        return this.#step(event, payload);
      case 'graph:engine-attempt-recorded':
        return this.#receipt(event, payload);
      case 'graph:model-unavailable': {
        const isFromCheck = payload['nodeId'] === undefined;
        const rule = isFromCheck
          ? (this.#probes.proves(payload, this.#before) ?? this.lanes.bury(payload, event.sequence))
          : this.lanes.unavailable(payload, this.#before, event.sequence);
        if (rule !== null) this.#violate(event, rule);
        return;
      }
      case 'preflight:probe-started':
      case 'preflight:probe-finished':
      case 'preflight:paused':
      case 'preflight:resumed':
      case 'preflight:failed': {
        const rule =
          this.#probes.read(event, payload, this.#before) ?? this.#probed(event, payload);
        if (rule !== null) this.#violate(event, rule);
        return;
      }
      case 'graph:pause-answered':
      case 'graph:attempt-reconciled':
      case 'graph:timer-fired':
        evidence.set(textOf(payload['position']), event);
        return this.#endedPause(event, payload);
      case 'graph:signal-received':
        this.#signals.set(textOf(payload['signalId']), {
          name: textOf(payload['name']),
          // One for a child run is that run's, unless it has ended meanwhile.
          consumed: this.#isOpenAt(payload['position']),
        });
        return;
      case 'graph:cancel-requested':
        this.#cancelled = true;
        return;
      case 'graph:run-finished':
        return this.#finished(event, payload);
      default:
        this.#violate(event, 'no such event type');
    }
  }

  #isOpenAt(position: JsonValue | undefined): boolean {
    if (position === undefined) return false;
    const known = this.positions.get(textOf(position));
    return known !== undefined && known.status !== 'settled';
  }

  #probed(event: EventEnvelope, payload: JsonObject): string | null {
    const ended = this.#probes.live(event, payload, this.#writer);
    return ended === null || typeof ended === 'string' ? ended : this.lanes.probed(ended);
  }

  #receipt(event: EventEnvelope, payload: JsonObject): void {
    const position = this.#open(event, payload);
    const plan = this.planOf(position.nodeId);
    if (plan?.kind !== 'engine') this.#violate(event, 'no engine works for it');
    else {
      const isOwn = position.owner === this.#writer;
      const { laneId } = plan;
      const cut = cutOffOf(this.#behind, position.position);
      const rule = this.lanes.receipt(payload, { laneId, launch: position.launches, isOwn, cut });
      this.lanes.counted(plan, payload);
      if (rule !== null) this.#violate(event, rule);
    }
  }

  #dispatched(event: EventEnvelope, payload: JsonObject): void {
    const position = dispatchedPosition(payload);
    const early = this.#cancelled ? null : this.#probes.work();
    if (early !== null) this.#violate(event, early);
    if (this.positions.has(position.position)) this.#violate(event, 'it was dispatched before');
    const decidedAt = Number(payload['decidedAt']);
    if (decidedAt >= event.sequence || decidedAt < this.#decidedAt) {
      this.#violate(event, `it was decided at ${decidedAt}, after ${this.#decidedAt}`);
    }
    const isRest = decidedAt === this.#decidedAt;
    if (this.#cancelled && !isUndo(position) && !isRest) {
      this.#violate(event, 'the run was cancelled');
    }
    this.#refuseForeign(event);
    this.#decidedAt = decidedAt;
    this.positions.set(position.position, position);
  }

  #started(event: EventEnvelope, payload: JsonObject): void {
    const identity = isJsonObject(payload['identity']) ? payload['identity'] : {};
    const position = this.#open(event, identity);
    if (position.status !== 'queued') this.#violate(event, `it is ${position.status}`);
    if (this.#cancelled && !isUndo(position)) this.#violate(event, 'the run was cancelled');
    if (position.notBefore !== null && event.timestamp < position.notBefore) {
      this.#violate(event, `it is due at ${position.notBefore}, now is ${event.timestamp}`);
    }
    this.#refuseForeign(event);
    position.status = 'running';
    position.owner = this.#writer;
    position.launches += 1;
    this.#launched(event, position);
    position.retrySafe = payload['retrySafe'] === true;
  }

  #resumed(event: EventEnvelope, payload: JsonObject): void {
    const position = this.#open(event, payload);
    if (position.status === 'queued') this.#violate(event, 'it was never started');
    if (position.status === 'running') {
      const uncertain = this.#uncertain(position);
      if (!this.#mayRepeat(position) || uncertain.length > 0) {
        this.#violate(event, `its outcome is uncertain, nobody was asked (${uncertain.join()})`);
      }
    }
    const { pause } = position;
    const mustAsk = pause?.kind === 'reconcile-attempt' || !this.#options.severalOwners;
    if (pause !== null && pause.kind !== 'child' && !pause.allowed && mustAsk) {
      this.#violate(event, `its pause of kind ${pause.kind} was not answered`);
    }
    const childToCancel = this.planOf(position.nodeId)?.kind === 'child';
    if (this.#cancelled && !isUndo(position) && !childToCancel) {
      this.#violate(event, 'the run was cancelled');
    }
    const handed = this.#signals.get(textOf(payload['signalId'] ?? ''));
    if (payload['signalId'] !== undefined && (handed === undefined || handed.consumed)) {
      this.#violate(event, 'it hands on a signal that is not there');
    }
    if (handed !== undefined) handed.consumed = true;
    position.status = 'running';
    position.owner = this.#writer;
    position.launches += 1;
    this.#launched(event, position);
    position.pause = null;
    for (const name of this.#uncertain(position)) this.#steps.get(position.first)?.delete(name);
  }

  #launched(event: EventEnvelope, { position, launches }: SimPosition): void {
    const rule = this.lanes.launched(position, launches);
    if (rule !== null) this.#violate(event, rule);
  }

  /** While another owner's attempts are in flight nothing new is decided or started. */
  #refuseForeign(event: EventEnvelope): void {
    const foreign = this.with('running').find(({ owner }) => owner !== this.#writer);
    if (foreign !== undefined) this.#violate(event, `${foreign.position} is another owner's`);
  }

  /** Whether the plan, not what was recorded of it, lets a crash repeat this attempt. */
  #mayRepeat({ nodeId }: SimPosition): boolean {
    const plan = this.planOf(nodeId);
    return plan?.kind === 'work' || plan?.kind === 'engine' ? plan.retrySafe : true;
  }

  #paused(event: EventEnvelope, payload: JsonObject): void {
    const position = this.#open(event, payload);
    if (position.status !== 'running') this.#violate(event, `it is ${position.status}`);
    const request = isJsonObject(payload['request']) ? payload['request'] : {};
    const kind = textOf(request['kind']);
    position.status = 'paused';
    position.pause = { pauseId: event.id, kind, request, allowed: false };
    const dueAt = textOf(request['dueAt']) === '' ? null : textOf(request['dueAt']);
    position.dueAt = kind === 'child' ? dueAt : (position.dueAt ?? dueAt);
  }

  #settled(event: EventEnvelope, payload: JsonObject, evidence: Evidence): void {
    const position = this.#open(event, payload);
    const isAbandoned = payload['abandoned'] === true;
    const { signalId } = payload;
    if (typeof signalId === 'string') this.#consume(event, position, signalId);
    else if (position.status === 'paused' && !isAbandoned && !evidence.has(position.position)) {
      this.#violate(event, 'nothing has ended its pause');
    }
    if (position.status === 'queued' && !isAbandoned) this.#violate(event, 'it never ran');
    // A person who says that the attempt has failed says so of its steps too.
    if (evidence.get(position.position)?.type === 'graph:attempt-reconciled') {
      for (const name of this.#uncertain(position)) this.#steps.get(position.first)?.delete(name);
    }
    this.#refuseBrokenStep(event, position, payload);
    const isOwn = !evidence.has(position.position) && position.status === 'running';
    const rule = isOwn ? this.#unlikeItsCalls(event, position, payload) : null;
    if (rule !== null) this.#violate(event, rule);
    this.#failed ||= event.type === 'graph:node-failed';
    position.status = 'settled';
    position.abandoned = isAbandoned;
    position.pause = null;
  }

  /** The rule that an outcome breaks by what the calls of its attempt have come to, or null. */
  #unlikeItsCalls(
    event: EventEnvelope,
    { position, launches, nodeId }: SimPosition,
    payload: JsonObject,
  ): string | null {
    const rule = this.lanes.settled(position, launches);
    const plan = this.planOf(nodeId);
    if (rule !== null || plan?.kind !== 'engine') return rule;
    const receipt = this.#before?.type === RECEIPT ? payloadOf(this.#before) : null;
    // Of a call that was cut off nobody knows what it has answered.
    const isKnown = receipt !== null && receipt['requested'] !== null;
    const call = isKnown ? this.lanes.called(position, launches) : null;
    const code = event.type === 'graph:node-completed' ? null : textOf(payload['code']);
    const outcome = { code, result: payload['result'] ?? null };
    return outcomeFault(outcome, { plan, receipt, call, store: this.#options.store });
  }

  /** A node that waits for its steps is never refused one. */
  #refuseBrokenStep(event: EventEnvelope, { nodeId }: SimPosition, { message }: JsonObject): void {
    const plan = this.planOf(nodeId);
    const waits = plan?.kind === 'work' && plan.steps.every(({ isAwaited }) => isAwaited);
    const isRefused = textOf(message).includes("breaks the record's rules");
    if (waits && isRefused) this.#violate(event, 'a step was refused');
  }

  #consume(event: EventEnvelope, position: SimPosition, signalId: string): void {
    const name = position.pause?.request['name'];
    const [oldest] =
      [...this.#signals].find((each) => each[1].name === name && !each[1].consumed) ?? [];
    const signal = this.#signals.get(signalId);
    if (signal === undefined || signal.consumed) {
      this.#violate(event, `signal ${signalId} was never received, or is used up`);
    } else {
      if (oldest !== signalId) this.#violate(event, `${oldest} came before ${signalId}`);
      signal.consumed = true;
    }
  }

  #step(event: EventEnvelope, payload: JsonObject): void {
    const position = this.#open(event, payload);
    const name = textOf(payload['step']);
    const steps = this.#steps.get(position.first) ?? new Map<string, SimStep>();
    this.#steps.set(position.first, steps);
    const before = steps.get(name);
    if (event.type === 'graph:node-step-started') {
      if (position.status !== 'running') this.#violate(event, `it is ${position.status}`);
      const failedHere = before?.status === 'failed' && before.position === position.position;
      if (before !== undefined && (before.status !== 'failed' || failedHere)) {
        this.#violate(event, `step ${name} was ${before.status} before`);
      }
      steps.set(name, { status: 'started', position: position.position });
      const key = `${position.first} ${name}`;
      this.#stepStarts.set(key, this.stepStarts(position.first, name) + 1);
      return;
    }
    if (before?.status === 'completed') this.#violate(event, `step ${name} has its result`);
    const status = payload['code'] === undefined ? 'completed' : 'failed';
    steps.set(name, { status, position: position.position });
    if (position.pause !== null && this.#uncertain(position).length === 0) {
      position.pause.allowed = true;
    }
  }

  #endedPause(event: EventEnvelope, payload: JsonObject): void {
    const position = this.positions.get(textOf(payload['position']));
    const pauseId = textOf(payload['pauseId']);
    const pause = position?.pause;
    if (position === undefined || pause?.pauseId !== pauseId || pause.allowed) {
      return this.#violate(event, `pause ${pauseId} is not open`);
    }
    if (event.type !== 'graph:timer-fired') this.#answered.add(pauseId);
    if (event.type === 'graph:timer-fired') {
      const isEarly = position.dueAt === null || event.timestamp < position.dueAt;
      if (isEarly) this.#violate(event, `it is due at ${position.dueAt}`);
    } else if (event.type === 'graph:pause-answered') {
      if (pause.kind === 'policy' && allows(payload)) pause.allowed = true;
    } else this.#reconciled(position, payload);
  }

  #reconciled(position: SimPosition, payload: JsonObject): void {
    const { pause } = position;
    if (payload['kind'] !== 'retry' || pause === null) return;
    const { step } = payload;
    if (typeof step === 'string') this.#steps.get(position.first)?.delete(step);
    else position.retries += 1;
    pause.allowed = typeof step !== 'string' || this.#uncertain(position).length === 0;
  }

  #uncertain({ first }: SimPosition): readonly string[] {
    const steps = this.#steps.get(first) ?? new Map<string, SimStep>();
    return [...steps].filter(([, { status }]) => status === 'started').map(([name]) => name);
  }

  #finished(event: EventEnvelope, payload: JsonObject): void {
    this.#end = payload;
    const open = [...this.positions.values()].filter(({ status }) => status !== 'settled');
    const { outcome } = payload;
    if (outcome === 'cancelled' && !this.#cancelled) this.#violate(event, 'nobody asked for it');
    const left = outcome === 'fail' ? open.filter(({ status }) => status === 'running') : open;
    if (left.length > 0) this.#violate(event, `${left.map((each) => each.position)} is open`);
  }

  #open(event: EventEnvelope, payload: JsonObject): SimPosition {
    const position = this.positions.get(textOf(payload['position']));
    if (position === undefined || position.status === 'settled') {
      return this.#violate(event, `${textOf(payload['position'])} is not open`);
    }
    return position;
  }

  #violate(event: EventEnvelope, rule: string): never {
    throw violationOf(this.runId, event, rule);
  }
}

const RECEIPT = 'graph:engine-attempt-recorded';
