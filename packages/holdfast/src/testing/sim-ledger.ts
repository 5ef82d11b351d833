/**
 * What node code has really done, beside what the log says of it. An effect is something that
 * cannot be undone: a dead process has none any more.
 */
import type { NodeContext } from '../attempt/node-context.ts';
import type { SimRecord } from './sim-record.ts';
import type { SimTrace } from './sim-trace.ts';
import { SimViolation } from './sim-violation.ts';

export interface StepEffect {
  readonly context: NodeContext;
  readonly name: string;
  readonly retrySafe: boolean;
  /** The process in which it happens. */
  readonly who: string;
}

export class SimLedger {
  readonly #record: SimRecord;
  readonly #trace: SimTrace;
  readonly #entries = new Map<string, number>();
  readonly #effects = new Map<string, number>();
  readonly #steps = new Map<string, number>();

  constructor(record: SimRecord, trace: SimTrace) {
    this.#record = record;
    this.#trace = trace;
  }

  /** Node code was called. Its start must stand in the log by now, once for each call. */
  enter({ runId, position, signal }: NodeContext, who: string): void {
    this.#trace.add(who, `runs ${runId} ${position}`);
    if (signal.aborted) {
      throw new SimViolation(`run ${runId}: the code of ${position} was called after its stop`);
    }
    const entries = this.#count(this.#entries, `${runId} ${position}`);
    const launches = this.#record.referee(runId)?.positions.get(position)?.launches ?? 0;
    if (entries <= launches) return;
    throw new SimViolation(
      `run ${runId}: the code of ${position} was called ${entries} times, its log has ${launches}`,
    );
  }

  /** The side effect of an attempt: once, and once more for each time a person has allowed it. */
  effect({ runId, nodeId, position }: NodeContext): void {
    const effects = this.#count(this.#effects, `${runId} ${position}`);
    const referee = this.#record.referee(runId);
    const plan = referee?.planOf(nodeId);
    if (plan?.kind === 'work' && plan.retrySafe) return;
    const allowed = 1 + (referee?.positions.get(position)?.retries ?? 0);
    if (effects <= allowed) return;
    throw new SimViolation(
      `run ${runId}: the effect of ${position} happened ${effects} times, allowed: ${allowed}`,
    );
  }

  /**
   * The side effect of a sub-step, which must not have a result already, unless its process has
   * stood still for so long that another has the attempt: nobody can stop what it does then.
   */
  step(effect: StepEffect): void {
    const { context, name, retrySafe, who } = effect;
    const { runId, position } = context;
    const referee = this.#record.referee(runId);
    const found = referee?.positions.get(position);
    const first = found?.first ?? position;
    const step = referee?.step(first, name);
    const effects = this.#count(this.#steps, `${runId} ${first} ${name}`);
    this.#trace.count('step-effect');
    const isOvertaken = context.signal.aborted || found?.owner?.startsWith(`${who}/`) !== true;
    if (step?.status === 'completed' && !isOvertaken) {
      throw new SimViolation(`run ${runId}: step ${name} of ${first} ran again after its result`);
    }
    const starts = referee?.stepStarts(first, name) ?? 0;
    if (retrySafe || effects <= starts) return;
    throw new SimViolation(
      `run ${runId}: step ${name} of ${first} ran ${effects} times, its log has ${starts}`,
    );
  }

  #count(counts: Map<string, number>, key: string): number {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count;
  }
}
