/**
 * One engine call of a simulation, as its engine knows it: what a receipt may say of it.
 *
 * Invariant: each moment is noted when it comes, so that only what was really open, said or let go
 * at the same millisecond has two possible receipts.
 */

import { canonicalText } from '../base/digest.ts';
import type { EngineFailureKind } from '../base/engine-failure.ts';
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { UNKNOWN_USAGE, type UsageReceipt } from '../base/usage.ts';
import { type Answer, type CutOff, tokensOf } from './sim-call-end.ts';
import type { EnginePlan, SeatPlan } from './sim-lane-plan.ts';
import { deadKeys } from './sim-lane-referee.ts';
import type { SimProcess } from './sim-process.ts';

/** How a call has ended, as its engine knows it. */
export interface CallEnd {
  /** Null for an answer that can be read. */
  readonly failure: EngineFailureKind | null;
  /** Null when the end itself says nothing of it: then what was told last counts. */
  readonly usage: UsageReceipt | null;
  readonly effective: GraphEngineIdentity | null;
  /** What was answered, if that can be read. */
  readonly answer?: Answer;
}

interface Told {
  readonly usage: UsageReceipt;
  readonly atMs: number;
  /** Told in one breath with the end. */
  readonly isLast: boolean;
}

export interface SimCallOptions {
  readonly seat: SeatPlan;
  /** Its place among all calls of the seat, from 0. */
  readonly index: number;
  /** Which launch of the position has made it; 0 when nobody can know of it. */
  readonly launch: number;
  readonly signal: AbortSignal;
  /** How long it is waited for once it was told to stop. */
  readonly graceMs: number;
  readonly process: SimProcess;
  /** The node's; null of a check, and where nobody can know. */
  readonly plan?: EnginePlan | null;
  /** What a hard budget has held for it: more is a failure. */
  readonly hardTokens?: number | null;
  /** The world's time. */
  readonly now: () => number;
}

export class SimCall {
  readonly seat: SeatPlan;
  readonly index: number;
  readonly launch: number;
  readonly plan: EnginePlan | null;
  readonly #options: SimCallOptions;
  readonly #told: Told[] = [];
  #end: (CallEnd & { readonly atMs: number; readonly wasStopped: boolean }) | null = null;
  #stoppedAtMs: number | null = null;
  #isRecorded = false;

  constructor(options: SimCallOptions) {
    const { signal, now } = options;
    this.seat = options.seat;
    this.index = options.index;
    this.launch = options.launch;
    this.plan = options.plan ?? null;
    this.#options = options;
    const stopped = () => {
      this.#stoppedAtMs ??= now();
    };
    if (signal.aborted) stopped();
    else signal.addEventListener('abort', stopped, { once: true });
  }

  /** The engine has told of its usage while the call was open. */
  told(usage: UsageReceipt, isLast = false): void {
    if (this.#end === null) this.#told.push({ usage, atMs: this.#options.now(), isLast });
  }

  /** The first end counts. */
  ended(end: CallEnd): void {
    const { now, signal } = this.#options;
    this.#end ??= { ...end, atMs: now(), wasStopped: signal.aborted };
  }

  /** What it has proven dead, whether that is recorded yet or not. */
  get proven(): readonly string[] {
    const { adapter, provider, model } = this.seat.target;
    return deadKeys(this.#end?.failure ?? '', { adapter, provider, model }, {});
  }

  /** What it has answered, if its answer counts. */
  get answer(): Answer | null {
    return this.#end?.answer ?? null;
  }

  /** Whether it has used more than a hard budget had held for it. */
  get hasOverspent(): boolean {
    const { hardTokens } = this.#options;
    return hardTokens != null && (tokensOf(this.#usage as unknown as JsonValue) ?? 0) > hardTokens;
  }

  /** Whether it had been told to stop when it ended. */
  get wasStopped(): boolean {
    return this.#end?.wasStopped === true;
  }

  /** What it has used or holds, as far as no log says so yet; null = nobody knows. */
  pendingTokens(): number | null {
    if (this.#isRecorded || this.#stoppedAtMs !== null) return 0;
    const held = this.plan?.extras?.callTokens?.tokens ?? 0;
    // At the very moment of its end it may still hold what it has held, or have used more.
    if (this.#end === null || this.#end.atMs === this.#options.now()) return held;
    return tokensOf(this.#usage as unknown as JsonValue);
  }

  /** What a receipt says otherwise than the engine, or null; `cut` is why nobody waits for it. */
  fault(receipt: JsonObject, cut: CutOff | null): string | null {
    this.#isRecorded = true;
    return this.#unless([...this.#asEnded(cut), ...this.#asCutOff(cut)], {
      failure: receipt['failure'] ?? null,
      effective: receipt['effective'] ?? null,
      usage: receipt['usage'] ?? null,
    });
  }

  /** The same of a check, which counts what comes before its time is over or it is stopped. */
  probeFault(receipt: JsonObject): string | null {
    const isOver = this.#end === null || this.#end.wasStopped;
    const allowed = isOver
      ? this.#heard().map((usage) => ({ failure: 'timeout', effective: null, usage }))
      : this.#asEnded(null);
    return this.#unless(allowed, receipt);
  }

  /** What a check that did not come to its end says of usage otherwise than the engine, or null. */
  usageFault(usage: JsonValue): string | null {
    const isOver = this.#end === null || this.#end.wasStopped;
    const heard = isOver ? this.#heard() : this.#asEnded(null).map((end) => end.usage);
    return this.#unless(heard, usage);
  }

  #unless(allowed: readonly unknown[], found: JsonValue): string | null {
    const text = canonicalText(found);
    if (allowed.some((each) => canonicalText(each as JsonValue) === text)) return null;
    return `its engine has said ${JSON.stringify({ end: this.#end, told: this.#told })}`;
  }

  #asEnded(cut: CutOff | null) {
    const end = this.#end;
    if (end === null) return [];
    const isTooLate = cut === 'timeout' && end.atMs > this.#closedAtMs;
    if (isTooLate && !this.#options.process.hasStoodStill) return [];
    const { effective } = end;
    const failure = end.failure ?? (this.hasOverspent ? 'unknown' : null);
    return [{ failure, effective, usage: this.#usage }];
  }

  /** What it has used, if it has come to its end. */
  get #usage(): UsageReceipt {
    return this.#end?.usage ?? this.#told.at(-1)?.usage ?? UNKNOWN_USAGE;
  }

  /** The attempt was over first: then the call has no end in the record. */
  #asCutOff(cut: CutOff | null) {
    if (cut === null || this.#stoppedAtMs === null) return [];
    const isInTime = this.#end !== null && this.#end.atMs < this.#closedAtMs;
    if (isInTime && !this.#options.process.hasStoodStill) return [];
    // Whoever was cancelled is let go by the next turn, perhaps a little later.
    const isVague = cut === 'aborted' || this.#options.process.hasStoodStill;
    return this.#heard(isVague).map((usage) => ({ failure: cut, effective: null, usage }));
  }

  get #closedAtMs(): number {
    if (this.#stoppedAtMs === null) return Number.POSITIVE_INFINITY;
    return this.#stoppedAtMs + this.#options.graceMs;
  }

  /** What was told last before nobody waited any more: at that very moment it may be either. */
  #heard(isVague: boolean = this.#options.process.hasStoodStill): readonly UsageReceipt[] {
    const closedAtMs = this.#closedAtMs;
    const before = this.#told.findLast(({ atMs }) => atMs < closedAtMs);
    const perhaps = this.#told.filter(
      ({ atMs, isLast }) => atMs === closedAtMs || (isVague && atMs > closedAtMs && !isLast),
    );
    return [before?.usage ?? UNKNOWN_USAGE, ...perhaps.map(({ usage }) => usage)];
  }
}
