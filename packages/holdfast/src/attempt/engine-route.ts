/**
 * How an engine-backed attempt gets its answer: the lane's first live target, then at most one live
 * fallback, and only after a failure that proves a target dead. Seed 000, "How a dispatch runs".
 *
 * Invariants: no two calls overlap; a call that proved a lane dead is durable before the next one
 * begins; of the last call the receipt is kept until it is recorded beside the outcome; what an
 * engine says after its call has ended counts for nothing.
 */
import { type EngineFailureKind, LANE_DEAD_FAILURES } from '../base/engine-failure.ts';
import { type EngineSelectionRecord, engineIdentity } from '../base/engine-identity.ts';
import type { ErrorCode } from '../base/error-codes.ts';
import { errorText, HoldfastError } from '../base/errors.ts';
import { utf8Length } from '../base/text.ts';
import { UNKNOWN_USAGE, type UsageReceipt } from '../base/usage.ts';
import { finalPart, partsBytes, readAgentResult } from '../engine/agent-result.ts';
import type { AgentRequest, AgentResult } from '../engine/engine.ts';
import { classifyEngineFailure } from '../engine/engine-error.ts';
import { readEngineEvent } from '../engine/engine-event-reader.ts';
import {
  type Reported,
  reportedByAnswer,
  reportedByError,
  reportedDelay,
} from '../engine/reported.ts';
import type { TokenReservation } from '../engine/token-budget.ts';
import type { PositionRecord } from '../run/position-record.ts';
import type { NodeBinding } from './binding.ts';
import type { AttemptHost, CallListener } from './context.ts';
import { engineRequest } from './engine-request.ts';
import type { EngineReceipt, EngineSeat, EngineWork } from './engine-work.ts';
import { requireInputWithin } from './limits.ts';
import type { NodeContext } from './node-context.ts';
import { isNodeFailure, NodeFailure } from './outcome.ts';
import { quietly } from './quietly.ts';

/** What a route needs of its attempt. */
export interface EngineRouteOptions {
  readonly record: PositionRecord;
  readonly binding: NodeBinding;
  readonly work: EngineWork;
  readonly context: NodeContext;
  readonly host: AttemptHost;
  /** Milliseconds left of the attempt's time; null = no limit. */
  readonly timeLeftMs: () => number | null;
}

/** Answer or failure of one call. */
type CallEnd =
  | { readonly kind: 'answered'; readonly result: AgentResult }
  | { readonly kind: 'failed'; readonly failure: EngineFailureKind; readonly error: unknown };

/** The end of a call for which nobody waits: its receipt is written already. */
const TOO_LATE: CallEnd = { kind: 'failed', failure: 'timeout', error: 'too late' };

/** The node failure that each kind of engine failure becomes; any other is `EFFECT_FAILED`. */
const FAILURE_CODES: Readonly<Partial<Record<EngineFailureKind, ErrorCode>>> = {
  timeout: 'TIMEOUT',
};

export class EngineRoute {
  readonly #options: EngineRouteOptions;
  /** The call under way, or the last one, until its receipt is recorded. */
  #receipt: EngineReceipt | null = null;
  #reservation: TokenReservation | null = null;
  #hasFallenBack = false;
  #isCalling = false;
  /** Once the attempt is over, nothing that its engine still does counts. */
  #isClosed = false;

  constructor(options: EngineRouteOptions) {
    this.#options = options;
  }

  /** The receipt of the last call that is not recorded yet. */
  get receipt(): EngineReceipt | null {
    return this.#receipt;
  }

  /** The node's result. Throws what the attempt fails with. */
  async run(): Promise<unknown> {
    const prompt = await this.#prompt();
    const { record } = this.#options;
    const tried: string[] = [];
    for (let seat = this.#nextSeat(); seat !== null; seat = this.#nextSeat()) {
      this.#requireRunning();
      const end = await this.#call(seat, prompt);
      if (end.kind === 'answered') return await this.#result(end.result);
      if (!LANE_DEAD_FAILURES.has(end.failure)) throw this.#failure(seat, end);
      const { adapter, provider, model } = seat.target;
      tried.push(`${adapter}/${provider}/${model}: ${errorText(end.error)}`);
      await this.#recordDead();
    }
    throw unavailable(record, tried, this.#isAnyAlive());
  }

  /** Whether another attempt would find a target that lives. */
  #isAnyAlive(): boolean {
    const { host, record } = this.#options;
    const { effective, fallbacks } = host.liveSeats(record);
    return effective !== null || fallbacks.length > 0;
  }

  /** The effective target while it lives, then one live fallback; null when there is no more. */
  #nextSeat(): EngineSeat | null {
    const { host, record } = this.#options;
    const { effective, fallbacks } = host.liveSeats(record);
    if (effective !== null) return effective;
    if (this.#hasFallenBack) return null;
    this.#hasFallenBack = true;
    return fallbacks[0] ?? null;
  }

  /** Nobody waits for the call under way any more: of its usage only what was told is known. */
  close(failure: 'timeout' | 'aborted'): void {
    this.#isClosed = true;
    if (!this.#isCalling) return;
    this.#isCalling = false;
    const open = this.#receipt;
    if (open !== null) this.#receipt = { ...open, failure };
    this.#commit(open?.usage ?? UNKNOWN_USAGE);
  }

  async #prompt(): Promise<string> {
    const { work, record, context, binding } = this.#options;
    const prompt = await work.prompt(record.input, context);
    if (typeof prompt !== 'string' || prompt.trim() === '') {
      throw new HoldfastError(
        'INVALID_ATTEMPT',
        `The prompt of ${record.nodeId} must be a text with visible characters, not ` +
          `${typeof prompt === 'string' ? 'a blank one' : `a value of type ${typeof prompt}`}.`,
        { nodeId: record.nodeId },
      );
    }
    requireInputWithin(binding.limits, record, utf8Length(prompt));
    return prompt;
  }

  async #call(seat: EngineSeat, prompt: string): Promise<CallEnd> {
    const request = this.#request(seat, prompt);
    this.#reservation = this.#reserve(seat);
    const requested = engineIdentity(seat.selection);
    this.#receipt = { requested, effective: null, usage: UNKNOWN_USAGE, failure: 'unknown' };
    const { host, record } = this.#options;
    const listener = host.listener(record);
    const call = { isOpen: true };
    const listen = (told: unknown) => {
      if (call.isOpen && this.#isCalling) this.#heard(told, listener);
    };
    this.#isCalling = true;
    try {
      const { engine, selection } = seat;
      const returned = await engine.run(request, listen, this.#options.context.signal);
      return this.#isClosed ? TOO_LATE : this.#read(returned, selection);
    } catch (error) {
      return this.#isClosed ? TOO_LATE : this.#failed(error, reportedByError(error));
    } finally {
      call.isOpen = false;
      this.#isCalling = false;
      quietly(() => listener.ended());
    }
  }

  /** A malformed answer may still say who gave it and what that took. */
  #read(returned: unknown, selection: EngineSelectionRecord): CallEnd {
    let result: AgentResult;
    try {
      result = readAgentResult(returned, selection);
    } catch (error) {
      return this.#failed(error, reportedByAnswer(returned));
    }
    return this.#answered(result);
  }

  #answered(result: AgentResult): CallEnd {
    const { requested = null, usage: told = UNKNOWN_USAGE } = this.#receipt ?? {};
    // What it told while it worked counts where its answer says nothing.
    const usage = result.usage.kind === 'unknown' ? told : result.usage;
    const effective = this.#options.host.harmless(result.effective);
    this.#receipt = { requested, effective, usage };
    const overspent = this.#commit(usage);
    if (overspent === null) return { kind: 'answered', result };
    this.#receipt = { ...this.#receipt, failure: 'unknown' };
    return { kind: 'failed', failure: 'unknown', error: overspent };
  }

  #failed(error: unknown, { usage, ...reported }: Reported): CallEnd {
    const failure = this.#kindOf(error);
    const known = this.#receipt ?? { requested: null, effective: null, usage: UNKNOWN_USAGE };
    const effective = this.#options.host.harmless(reported.effective) ?? known.effective;
    this.#receipt = { ...known, effective, usage: usage ?? known.usage, failure };
    const overspent = this.#commit(this.#receipt.usage);
    // A dead lane is dead, whatever it has used: only then does the failure come before the budget.
    const mustSay = overspent === null || LANE_DEAD_FAILURES.has(failure);
    return { kind: 'failed', failure, error: mustSay ? error : overspent };
  }

  /** What rejects with the very reason of its signal was aborted. */
  #kindOf(error: unknown): EngineFailureKind {
    const { signal } = this.#options.context;
    if (signal.aborted && error === signal.reason) return 'aborted';
    return classifyEngineFailure(error);
  }

  /** What is no event is neither counted nor handed on. */
  #heard(told: unknown, listener: CallListener): void {
    const event = readEngineEvent(told);
    if (event === null) return;
    if (event.kind === 'usage' && this.#receipt !== null) {
      this.#receipt = { ...this.#receipt, usage: event.usage };
    }
    quietly(() => listener.heard(event));
  }

  /** Counts what a call has used; why that is more than it might, or null. */
  #commit(usage: UsageReceipt): HoldfastError | null {
    const reservation = this.#reservation;
    this.#reservation = null;
    try {
      reservation?.commit(usage);
      return null;
    } catch (error) {
      return error instanceof HoldfastError
        ? error
        : new HoldfastError('TOKEN_BUDGET', errorText(error));
    }
  }

  #reserve(seat: EngineSeat): TokenReservation | null {
    const { work, record, host } = this.#options;
    const { callTokens, tokenBudget } = work;
    const { hardTokenLimitEnforceable } = seat;
    if (callTokens?.mode === 'hard' && !hardTokenLimitEnforceable) {
      throw new HoldfastError(
        'TOKEN_BUDGET',
        `${record.nodeId} may use ${callTokens.tokens} tokens at most, and engine ` +
          `${seat.engine.name} cannot enforce a limit. Use mode 'observed', or another engine.`,
        { nodeId: record.nodeId, engine: seat.engine.name },
      );
    }
    if (tokenBudget === null) return null;
    const key = host.budgetKey(record.nodeId);
    tokenBudget.restore(key, host.usage(record.nodeId));
    return tokenBudget.reserve(callTokens?.tokens ?? null, {
      key,
      hardLimitEnforceable: hardTokenLimitEnforceable,
    });
  }

  async #recordDead(): Promise<void> {
    const receipt = this.#receipt;
    if (receipt === null) return;
    const { host, record } = this.#options;
    this.#receipt = null;
    await host.recordDeadLane(record, receipt);
  }

  #requireRunning(): void {
    const { signal } = this.#options.context;
    if (signal.aborted) throw signal.reason;
  }

  async #result(result: AgentResult): Promise<unknown> {
    const { work, binding, record } = this.#options;
    const { outputBytes } = binding.limits;
    const bytes = partsBytes(result);
    if (outputBytes !== null && bytes > outputBytes) {
      throw new HoldfastError(
        'OUTPUT_LIMIT',
        `The answer for ${record.nodeId} has ${bytes} bytes; ${outputBytes} are allowed.`,
        { nodeId: record.nodeId, bytes, limit: outputBytes },
      );
    }
    const final = finalPart(result);
    if (work.parseResult === null) return final.kind === 'structured' ? final.value : final.text;
    try {
      return await work.parseResult(final, result.parts);
    } catch (error) {
      if (isNodeFailure(error)) throw error;
      throw new HoldfastError(
        'RESULT_INVALID',
        `parseResult made no result of the answer for ${record.nodeId}: ${errorText(error)}`,
        { nodeId: record.nodeId },
        error,
      );
    }
  }

  #failure({ engine }: EngineSeat, end: Extract<CallEnd, { kind: 'failed' }>): HoldfastError {
    const { failure, error } = end;
    const code = codeOf(error) ?? FAILURE_CODES[failure] ?? 'EFFECT_FAILED';
    const said = errorText(error) + retryText(error);
    // Over its budget it may have answered well: then it is not the engine that has failed.
    const what = code === 'TOKEN_BUDGET' ? 'was called' : `failed (${failure})`;
    const text = `Engine ${engine.name} ${what}: ${said}`;
    return new HoldfastError(code, text, { failure }, error);
  }

  #request(seat: EngineSeat, prompt: string): AgentRequest {
    const { work, record, binding, context, timeLeftMs } = this.#options;
    const attempt = attemptOf(record, context.runId);
    const timeoutMs = timeLeftMs();
    return Object.freeze({ prompt, ...engineRequest({ seat, binding, work, timeoutMs, attempt }) });
  }
}

function attemptOf({ nodeId, position, started }: PositionRecord, runId: string) {
  const attemptId = started?.attemptId ?? '';
  return { runId, attemptId, leafId: nodeId, path: [position], label: nodeId };
}

/** What this side refused of an answer has a code of its own; an engine's error has none. */
function codeOf(error: unknown): ErrorCode | null {
  if (!(error instanceof HoldfastError)) return null;
  return error.code === 'RESULT_INVALID' || error.code === 'TOKEN_BUDGET' ? error.code : null;
}

/** For whoever reads the record and tries again: nothing here waits for it. */
function retryText(error: unknown): string {
  const delay = reportedDelay(error);
  return delay === null ? '' : ` (it can be asked again after ${delay} ms)`;
}

/** What is retired stays retired for the run: only a target that still lives can mend it. */
function unavailable(
  { nodeId }: PositionRecord,
  tried: readonly string[],
  isAnyAlive: boolean,
): HoldfastError {
  const why = tried.length === 0 ? 'each is proven dead already' : tried.join('; ');
  const text = `No target of its lane that this attempt of ${nodeId} may try is alive (${why}).`;
  return new NodeFailure('ENGINE_UNAVAILABLE', text, { retryable: isAnyAlive });
}
