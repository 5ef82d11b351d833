/** What engines are really asked, held against what the log says at that moment. */

import { canonicalText } from '../base/digest.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { UNKNOWN_USAGE } from '../base/usage.ts';
import type { AgentRequest } from '../engine/engine.ts';
import type { ExecutionTarget } from '../graph/execution-target.ts';
import type { SimBudget } from './sim-budget.ts';
import { SimCall } from './sim-call.ts';
import type { CutOff } from './sim-call-end.ts';
import type { BudgetPlan } from './sim-extras.ts';
import type { EnginePlan, SeatPlan } from './sim-lane-plan.ts';
import {
  type CallWitness,
  type EndedProbe,
  type ReceiptPlace,
  targetKeys,
} from './sim-lane-referee.ts';
import { targetKey } from './sim-lanes.ts';
import type { SimProcess } from './sim-process.ts';
import type { SimRecord } from './sim-record.ts';
import type { SimReferee } from './sim-referee.ts';
import type { SimTrace } from './sim-trace.ts';
import { SimViolation } from './sim-violation.ts';

/** What an engine is asked, and by whom. */
export interface AskedCall {
  readonly seat: SeatPlan;
  readonly request: AgentRequest;
  readonly signal: AbortSignal;
  /** Who asks. */
  readonly process: SimProcess;
}

/** The budget of tokens that all calls share. */
export interface CallBudgets {
  readonly plan: BudgetPlan | null;
  readonly budget: SimBudget;
  /** Whether one process at a time calls: only then it knows all that was used. */
  readonly isSole: boolean;
}

export class SimCalls implements CallWitness {
  readonly #trace: SimTrace;
  readonly #now: () => number;
  readonly #budgets: CallBudgets;
  readonly #bySeat = new Map<string, number>();
  readonly #calls = new Map<string, SimCall[]>();
  readonly #probes = new Map<string, SimCall>();
  /** Calls of one seat for one position, whoever has made them. */
  readonly #repeats = new Map<string, number>();
  readonly #known = new Map<string, number>();
  /** All calls that a process has made for a run. */
  readonly #own = new Map<string, SimCall[]>();
  /** All calls that it has made. */
  readonly #byProcess = new Map<string, readonly SimCall[]>();

  constructor(trace: SimTrace, now: () => number, budgets: CallBudgets) {
    this.#trace = trace;
    this.#now = now;
    this.#budgets = budgets;
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
  uncounted(asked: AskedCall): SimCall {
    return this.#callOf(asked, 0, null);
  }

  #callOf(asked: AskedCall, launch: number, plan: EnginePlan | null): SimCall {
    const { seat, signal, request, process } = asked;
    const index = this.#next(this.#bySeat, targetKey(seat.target));
    const graceMs = request.timeoutGraceMs ?? 0;
    const isHard = plan?.extras?.usesBudget === true && this.#budgets.plan?.mode === 'hard';
    const hardTokens = isHard ? (plan.extras.callTokens?.tokens ?? null) : null;
    const call = { seat, index, launch, signal, graceMs, process, plan, hardTokens };
    return new SimCall({ ...call, now: this.#now });
  }

  /** An engine is called. Throws `SimViolation` when it must not be. */
  called(record: SimRecord, asked: AskedCall, note: (call: SimCall) => void): void {
    const { seat, request, signal } = asked;
    const who = asked.process.name;
    const { runId = '', path = [], attemptId = '' } = request.attempt ?? {};
    const position = path[0] ?? '';
    const referee = record.referee(runId);
    this.#trace.add(who, `calls ${seat.target.model} for ${runId} ${position}`);
    this.#trace.count('engine-call');
    const found = referee?.positions.get(position);
    // One that stands still for long is overtaken: nobody can stop what it does then.
    const isOwn = found?.owner?.startsWith(`${who}/`) === true && found.status === 'running';
    const launch = isOwn ? (found?.launches ?? 0) : 0;
    const plan = referee?.planOf(found?.nodeId ?? '');
    const call = this.#callOf(asked, launch, plan?.kind === 'engine' ? plan : null);
    note(call);
    const own = `${who} ${runId}`;
    this.#own.set(own, [...(this.#own.get(own) ?? []), call]);
    const earlier = this.#byProcess.get(who) ?? [];
    this.#byProcess.set(who, [...earlier, call]);
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
    this.#checkTokens(referee, call, earlier);
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

  /** Hard limits need an engine that keeps them, and no call begins without room in its budgets. */
  #checkTokens(referee: SimReferee, call: SimCall, earlier: readonly SimCall[]): void {
    const { plan, budget, isSole } = this.#budgets;
    const { extras } = call.plan ?? {};
    if (call.plan === null || extras === undefined) return;
    const isHard =
      extras.callTokens?.mode === 'hard' || (extras.usesBudget && plan?.mode === 'hard');
    if (isHard && call.seat.enforcesLimit !== true) refuse(referee, call, 'it keeps no limit');
    const rule = isSole ? budget.refusal(call.plan, earlier) : null;
    if (rule !== null) refuse(referee, call, rule);
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
  fault(of: ReceiptPlace, receipt: JsonObject, cut: CutOff | null): string | null {
    const call = this.#of(of)[of.place - 1];
    return call === undefined ? 'no engine was called' : call.fault(receipt, cut);
  }

  /** What the end of a check says otherwise than the engine that was called for it, or null. */
  probeFault({ probeEventId, outcome, isOwn }: EndedProbe): string | null {
    const call = this.#probes.get(probeEventId);
    const { usage = null, kind = null, reported = null } = outcome;
    if (!isOwn || call === undefined) {
      const isKnown = canonicalText(usage) !== UNKNOWN || reported !== null;
      return isKnown ? 'nobody knows that of a check that was cut off' : null;
    }
    if (kind === 'interrupted' || kind === 'recording-failed') return call.usageFault(usage);
    const failure = kind === 'failed' ? (outcome['failure'] ?? null) : null;
    return call.probeFault({ failure, effective: reported, usage });
  }

  /** The call of a receipt. */
  call(of: ReceiptPlace): SimCall | null {
    return this.#of(of)[of.place - 1] ?? null;
  }

  /** A receipt stands in a log. */
  recorded(plan: EnginePlan, usage: JsonValue | undefined): void {
    this.#budgets.budget.recorded(plan, usage);
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

const UNKNOWN = canonicalText(UNKNOWN_USAGE as unknown as JsonValue);
