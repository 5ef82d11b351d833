/** What engines are really asked, held against what the log says at that moment. */
import type { JsonValue } from '../base/json.ts';
import type { UsageReceipt } from '../base/usage.ts';
import type { AgentRequest } from '../engine/engine.ts';
import type { ExecutionTarget } from '../graph/execution-target.ts';
import { type SeatPlan, targetKey } from './sim-lanes.ts';
import type { SimRecord } from './sim-record.ts';
import { type SimReferee, SimViolation } from './sim-referee.ts';
import type { SimTrace } from './sim-trace.ts';

interface Call {
  readonly seat: SeatPlan;
  readonly launch: number;
}

export class SimCalls {
  readonly #trace: SimTrace;
  readonly #bySeat = new Map<string, number>();
  readonly #calls = new Map<string, Call[]>();
  readonly #said = new Map<string, Set<string>>();

  constructor(trace: SimTrace) {
    this.#trace = trace;
  }

  /** The place of the next call among all of its seat, from 0. */
  next(seat: SeatPlan): number {
    const key = targetKey(seat.target);
    const count = this.#bySeat.get(key) ?? 0;
    this.#bySeat.set(key, count + 1);
    return count;
  }

  /** The place of the next question to a seat among all, from 0. */
  ask(seat: SeatPlan): number {
    const key = `asked ${targetKey(seat.target)}`;
    const count = this.#bySeat.get(key) ?? 0;
    this.#bySeat.set(key, count + 1);
    return count;
  }

  /** An engine is called by `who`. Throws `SimViolation` when it must not be. */
  called(record: SimRecord, call: { seat: SeatPlan; request: AgentRequest; who: string }): void {
    const { seat, request, who } = call;
    const { runId = '', path = [] } = request.attempt ?? {};
    const position = path[0] ?? '';
    const referee = record.referee(runId);
    const found = referee?.positions.get(position);
    this.#trace.add(who, `calls ${seat.target.model} for ${runId} ${position}`);
    this.#trace.count('engine-call');
    // One that stands still for long is overtaken: nobody can stop what it does then.
    if (referee === undefined || found?.owner?.startsWith(`${who}/`) !== true) return;
    if (found.status !== 'running') return;
    const { launches: launch } = found;
    const key = `${runId} ${position}`;
    const before = (this.#calls.get(key) ?? []).filter((each) => each.launch === launch);
    this.#calls.set(key, [...(this.#calls.get(key) ?? []), { seat, launch }]);
    this.#check(referee, { seat, launch }, before, position);
  }

  #check(referee: SimReferee, { seat }: Call, before: readonly Call[], position: string): void {
    const { target } = seat;
    const refuse = (rule: string): never => {
      throw new SimViolation(
        `run ${referee.runId}: ${target.model} was called for ${position}: ${rule}`,
      );
    };
    if (referee.lanes.isDead(target)) refuse('it was proven dead before');
    const effective = this.#effective(referee, position)?.target;
    const isFallback = effective !== undefined && targetKey(effective) !== targetKey(target);
    const mayLive = referee.plan.preflight !== null && hasNoAdmission(referee, effective);
    if (isFallback && !mayLive && !referee.lanes.isDead(effective)) {
      refuse('its effective target lives');
    }
    const fallbacks = before.filter(
      (each) => effective !== undefined && targetKey(each.seat.target) !== targetKey(effective),
    );
    if (isFallback && fallbacks.length > 0) refuse('another fallback was tried before');
    const last = before.at(-1);
    if (last !== undefined && !referee.lanes.isDead(last.seat.target)) {
      refuse(`${last.seat.target.model} was called before and is not dead`);
    }
  }

  #effective(referee: SimReferee, position: string): SeatPlan | undefined {
    const plan = referee.planOf(referee.positions.get(position)?.nodeId ?? '');
    return plan?.kind === 'engine' ? referee.lanes.lane(plan.laneId)?.seats[0] : undefined;
  }

  /** An engine claims a usage. */
  said({ attempt }: AgentRequest, usage: UsageReceipt): void {
    const key = `${attempt?.runId} ${attempt?.path[0]}`;
    const said = this.#said.get(key) ?? new Set();
    this.#said.set(key, said.add(textOf(usage as unknown as JsonValue)));
  }

  hasSaid(runId: string, position: string, usage: JsonValue): boolean {
    return this.#said.get(`${runId} ${position}`)?.has(textOf(usage)) === true;
  }

  count(runId: string, position: string, launch: number): number {
    const calls = this.#calls.get(`${runId} ${position}`) ?? [];
    return calls.filter((call) => call.launch === launch).length;
  }
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

function textOf(usage: JsonValue): string {
  return JSON.stringify(Object.entries(usage as object).sort());
}
