/** What engines are really asked, held against what the log says at that moment. */
import type { EngineFailureKind } from '../base/engine-failure.ts';
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { UNKNOWN_USAGE, type UsageReceipt } from '../base/usage.ts';
import type { AgentRequest } from '../engine/engine.ts';
import type { ExecutionTarget } from '../graph/execution-target.ts';
import { type CallWitness, deadKeys, type ReceiptPlace, targetKeys } from './sim-lane-referee.ts';
import { type SeatPlan, targetKey } from './sim-lanes.ts';
import type { SimRecord } from './sim-record.ts';
import type { SimReferee } from './sim-referee.ts';
import type { SimTrace } from './sim-trace.ts';
import { SimViolation } from './sim-violation.ts';

/** How a call has ended, as its engine knows it. */
export interface CallEnd {
  /** Null for an answer that can be read. */
  readonly failure: EngineFailureKind | null;
  /** Null when the end itself says nothing of it. */
  readonly usage: UsageReceipt | null;
  readonly effective: GraphEngineIdentity | null;
  /** Whether a reader may take what was heard, or nothing, for what the end says of usage. */
  readonly isUnclear?: boolean;
}

/** One call, and all that its engine has said in it. */
export class SimCall {
  readonly seat: SeatPlan;
  /** Its place among all calls of the seat, from 0. */
  readonly index: number;
  /** Which launch of the position has made it; 0 when nobody can know of it. */
  readonly launch: number;
  readonly #signal: AbortSignal;
  readonly #heard: UsageReceipt[] = [];
  #end: CallEnd | null = null;
  #wasStopped = false;

  constructor(call: { seat: SeatPlan; index: number; launch: number; signal: AbortSignal }) {
    this.seat = call.seat;
    this.index = call.index;
    this.launch = call.launch;
    this.#signal = call.signal;
  }

  /** The engine has told of its usage while the call was open. */
  told(usage: UsageReceipt): void {
    if (this.#end === null) this.#heard.push(usage);
  }

  /** The first end counts. */
  ended(end: CallEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#wasStopped = this.#signal.aborted;
  }

  /** What it has proven dead, whether that is recorded yet or not. */
  get proven(): readonly string[] {
    const { adapter, provider, model } = this.seat.target;
    return deadKeys(this.#end?.failure ?? '', { adapter, provider, model }, {});
  }

  /** What a receipt says otherwise than the engine, or null. */
  fault(receipt: JsonObject): string | null {
    const { usage = null, effective = null } = receipt;
    const failure = receipt['failure'] ?? null;
    const end = this.#end;
    const asItEnded =
      end !== null &&
      failure === end.failure &&
      textOf(effective) === textOf(end.effective as unknown as JsonValue) &&
      this.#usages(end).includes(textOf(usage));
    if (asItEnded) return null;
    // The attempt was over first: then the call has no end in the record.
    const isLetGo = failure === 'timeout' || failure === 'aborted';
    const mayBeLetGo = end === null || this.#wasStopped;
    const heard = [UNKNOWN_USAGE, ...this.#heard].map(usageText);
    if (mayBeLetGo && isLetGo && effective === null && heard.includes(textOf(usage))) return null;
    return `its engine has said ${JSON.stringify({ end, heard: this.#heard })}`;
  }

  #usages(end: CallEnd): readonly string[] {
    const last = this.#heard.at(-1);
    const said = end.usage ?? last ?? UNKNOWN_USAGE;
    if (end.isUnclear !== true) return [usageText(said)];
    return [said, UNKNOWN_USAGE, ...(last === undefined ? [] : [last])].map(usageText);
  }
}

/** What an engine is asked, and by whom. */
export interface AskedCall {
  readonly seat: SeatPlan;
  readonly request: AgentRequest;
  readonly signal: AbortSignal;
  /** The process. */
  readonly who: string;
}

export class SimCalls implements CallWitness {
  readonly #trace: SimTrace;
  readonly #bySeat = new Map<string, number>();
  readonly #calls = new Map<string, SimCall[]>();
  readonly #probes = new Map<string, SimCall>();
  /** Calls of one seat for one position, whoever has made them. */
  readonly #repeats = new Map<string, number>();
  readonly #known = new Map<string, number>();
  /** All calls that a process has made for a run. */
  readonly #own = new Map<string, SimCall[]>();

  constructor(trace: SimTrace) {
    this.#trace = trace;
  }

  /** A process has read or written a stream as far as `sequence`. */
  learns(who: string, runId: string, sequence: number): void {
    const key = `${who} ${runId}`;
    this.#known.set(key, Math.max(sequence, this.#known.get(key) ?? 0));
  }

  /** The place of the next question to a seat among all, from 0. */
  ask(seat: SeatPlan): number {
    return this.#next(this.#bySeat, `asked ${targetKey(seat.target)}`);
  }

  /** A call of which nothing is checked: a dead process cannot be held to anything. */
  uncounted({ seat, signal }: AskedCall): SimCall {
    const index = this.#next(this.#bySeat, targetKey(seat.target));
    return new SimCall({ seat, index, launch: 0, signal });
  }

  /** An engine is called. Throws `SimViolation` when it must not be. */
  called(record: SimRecord, asked: AskedCall, note: (call: SimCall) => void): void {
    const { seat, request, who, signal } = asked;
    const { runId = '', path = [], attemptId = '' } = request.attempt ?? {};
    const position = path[0] ?? '';
    const referee = record.referee(runId);
    this.#trace.add(who, `calls ${seat.target.model} for ${runId} ${position}`);
    this.#trace.count('engine-call');
    const found = referee?.positions.get(position);
    // One that stands still for long is overtaken: nobody can stop what it does then.
    const isOwn = found?.owner?.startsWith(`${who}/`) === true && found.status === 'running';
    const launch = isOwn ? (found?.launches ?? 0) : 0;
    const index = this.#next(this.#bySeat, targetKey(seat.target));
    const call = new SimCall({ seat, index, launch, signal });
    note(call);
    const own = `${who} ${runId}`;
    this.#own.set(own, [...(this.#own.get(own) ?? []), call]);
    if (referee === undefined) return;
    if (signal.aborted) refuse(referee, call, 'it had been told to stop');
    if (request.purpose === 'preflight') return this.#probed(referee, call, request, attemptId);
    const key = `${runId} ${position}`;
    const repeats = this.#next(this.#repeats, `${key} ${targetKey(seat.target)}`) + 1;
    const launches = found?.launches ?? 0;
    if (repeats > launches) {
      refuse(referee, call, `${repeats} calls for ${position}, which started ${launches} times`);
    }
    if (!isOwn) return;
    const before = (this.#calls.get(key) ?? []).filter((each) => each.launch === launch);
    this.#calls.set(key, [...(this.#calls.get(key) ?? []), call]);
    this.#check(referee, call, { before, position, own });
  }

  #probed(referee: SimReferee, call: SimCall, request: AgentRequest, probeEventId: string): void {
    this.#trace.count('probe-call');
    if (this.#probes.has(probeEventId)) refuse(referee, call, `${probeEventId} has made its call`);
    this.#probes.set(probeEventId, call);
    const hasTools = request.tools?.length !== 0 || request.workspaceMode !== 'none';
    if (hasTools) refuse(referee, call, 'a check has no tools');
  }

  #check(
    referee: SimReferee,
    call: SimCall,
    place: { before: readonly SimCall[]; position: string; own: string },
  ): void {
    const { target } = call.seat;
    const { before, position, own } = place;
    const diedAt = referee.lanes.diedAt(target);
    if (diedAt !== null && diedAt <= (this.#known.get(own) ?? 0))
      refuse(referee, call, 'it was proven dead before');
    const effective = this.#effective(referee, position)?.target;
    const isFallback = effective !== undefined && targetKey(effective) !== targetKey(target);
    const mayLive = referee.plan.preflight !== null && hasNoAdmission(referee, effective);
    if (isFallback && !mayLive && !this.#isGone(referee, effective, own)) {
      refuse(referee, call, 'its effective target lives');
    }
    const fallbacks = before.filter(
      (each) => effective !== undefined && targetKey(each.seat.target) !== targetKey(effective),
    );
    if (isFallback && fallbacks.length > 0) refuse(referee, call, 'another fallback was tried');
    const last = before.at(-1);
    if (last !== undefined && referee.lanes.diedAt(last.seat.target) === null) {
      refuse(referee, call, `${last.seat.target.model} was called before and is not dead`);
    }
  }

  /** Dead by the log, or by what this very process has just seen and is about to record. */
  #isGone({ lanes }: SimReferee, target: ExecutionTarget, own: string): boolean {
    if (lanes.diedAt(target) !== null) return true;
    const proven = (this.#own.get(own) ?? []).flatMap((call) => call.proven);
    return targetKeys(target).some((key) => proven.includes(key));
  }

  #effective(referee: SimReferee, position: string): SeatPlan | undefined {
    const plan = referee.planOf(referee.positions.get(position)?.nodeId ?? '');
    return plan?.kind === 'engine' ? referee.lanes.lane(plan.laneId)?.seats[0] : undefined;
  }

  /** What a receipt of an own call says otherwise than its engine, or null. */
  fault(of: ReceiptPlace, receipt: JsonObject): string | null {
    const call = this.#of(of)[of.place - 1];
    return call === undefined ? 'no engine was called' : call.fault(receipt);
  }

  /** What the end of a check says otherwise than the engine that was called for it, or null. */
  probeFault(probeEventId: string, outcome: JsonObject): string | null {
    const call = this.#probes.get(probeEventId);
    const { usage = null, kind = null } = outcome;
    if (call === undefined) return textOf(usage) === UNKNOWN ? null : 'no engine was called';
    // Of an interrupted check, and of one whose evidence was not stored, only usage is known.
    const failure = kind === 'failed' ? (outcome['failure'] ?? null) : null;
    const reported = outcome['reported'] ?? null;
    const whole = { failure, effective: reported, usage };
    if (kind === 'interrupted' || kind === 'recording-failed') return null;
    return call.fault(whole);
  }

  /** How many calls a launch of a position has made. */
  count(of: Omit<ReceiptPlace, 'place'>): number {
    return this.#of(of).length;
  }

  #of({ runId, position, launch }: Omit<ReceiptPlace, 'place'>): readonly SimCall[] {
    const calls = this.#calls.get(`${runId} ${position}`) ?? [];
    return calls.filter((call) => call.launch === launch);
  }

  #next(counts: Map<string, number>, key: string): number {
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return count;
  }
}

function refuse({ runId }: SimReferee, { seat }: SimCall, rule: string): never {
  throw new SimViolation(`run ${runId}: ${seat.target.model} was called: ${rule}`);
}

/** A check may block a target that cannot be asked: then it is passed over though it lives. */
function hasNoAdmission(referee: SimReferee, target: ExecutionTarget | undefined): boolean {
  const seats = referee.plan.lanes.flatMap((lane) => lane.seats);
  return seats.some(
    (seat) =>
      seat.admissions === null &&
      target !== undefined &&
      targetKey(seat.target) === targetKey(target),
  );
}

const UNKNOWN = usageText(UNKNOWN_USAGE);

function usageText(usage: UsageReceipt): string {
  return textOf(usage as unknown as JsonValue);
}

function textOf(value: JsonValue): string {
  return JSON.stringify(Object.entries(value ?? {}).sort());
}
