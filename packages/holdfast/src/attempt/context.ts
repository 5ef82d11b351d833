/**
 * What node code sees of its attempt. Costly parts are made when they are first asked for: most
 * nodes never look at their signal or their key.
 *
 * Invariants: it knows which steps have begun and not ended; once it is closed no step begins and
 * none is recorded; a step's promise that nobody waits for harms nobody.
 */
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import { HoldfastError } from '../base/errors.ts';
import { textFault } from '../base/identifier.ts';
import { cloneFrozenJson, type JsonObject, type JsonValue } from '../base/json.ts';
import type { TokenTotals } from '../base/usage.ts';
import type { EngineEvent } from '../engine/engine.ts';
import type { Memory } from '../memory/memory.ts';
import type { PositionRecord, StepRecord } from '../run/position-record.ts';
import type { ChildRun, PauseAttempt } from './binding.ts';
import type { EngineReceipt, LiveSeats } from './engine-work.ts';
import type { NodeContext, StepContext, StepOptions, StepResult } from './node-context.ts';
import { failureOf, NodeFailure } from './outcome.ts';
import { isPromiseLike } from './promise-like.ts';

/** What an attempt needs of the executor around it. */
export interface AttemptHost extends EngineHost {
  readonly runId: string;
  readonly runInput: JsonValue;
  readonly memory: Memory | null;
  /** A digest of the run's stream and these parts. */
  key(...parts: readonly string[]): string;
  /** What is known of a sub-step. Throws `KNOWN_SECRET` for a name that must not be recorded. */
  step(record: PositionRecord, name: string): StepRecord | undefined;
  /** True when a sub-step was started and nobody knows what it did. */
  hasUncertainStep(record: PositionRecord): boolean;
  /** Makes the start of a sub-step durable. */
  startStep(record: PositionRecord, name: string): Promise<void>;
  /** Makes the result or failure of a sub-step durable; gives what was recorded. */
  recordStep(record: PositionRecord, name: string, outcome: RecordedStep): Promise<RecordedStep>;
  /** Runs a child run to its end (its output), or to its pause. */
  runChild(
    record: PositionRecord,
    child: ChildRun,
    signal: AbortSignal,
  ): Promise<JsonValue | PauseAttempt>;
  log(record: PositionRecord, message: string, data: JsonObject | undefined): void;
}

/** Told of one engine call. */
export interface CallListener {
  heard(event: EngineEvent): unknown;
  ended(): unknown;
}

/** What an engine-backed attempt needs of it besides. */
export interface EngineHost {
  /** The seats that it may call now. */
  liveSeats(record: PositionRecord): LiveSeats;
  /** Makes a call that proved its lane dead durable, and that fact with it. */
  recordDeadLane(record: PositionRecord, receipt: EngineReceipt): Promise<void>;
  /** Who is told what an engine says during one call; nothing of it is recorded. */
  listener(record: PositionRecord): CallListener;
  /** Null for an identity that holds a known secret. */
  harmless(identity: GraphEngineIdentity | null): GraphEngineIdentity | null;
  /** Names the use of a node in token budgets. */
  budgetKey(nodeId: string): string;
  /** What the calls of a node have used, as far as it is recorded. */
  usage(nodeId: string): TokenTotals;
}

const MAX_STEP_NAME_LENGTH = 500;

export type RecordedStep = Exclude<StepRecord, { readonly kind: 'started' }>;

export class AttemptContext implements NodeContext {
  readonly #record: PositionRecord;
  readonly #host: AttemptHost;
  #controller: AbortController | null = null;
  #usedSteps: Set<string> | null = null;
  #step: NodeContext['step'] | null = null;
  #openSteps = 0;
  /** Open steps of which a crash, or nobody waiting any more, leaves unknown what they did. */
  #unsafeSteps = 0;
  #onIdle: (() => void) | null = null;
  #isClosed = false;

  constructor(record: PositionRecord, host: AttemptHost) {
    this.#record = record;
    this.#host = host;
  }

  // Node code likes to take functions off its context, so what it takes is bound.
  get step(): NodeContext['step'] {
    this.#step ??= this.#beginStep.bind(this);
    return this.#step;
  }

  get log(): NodeContext['log'] {
    return (message, data) => this.#host.log(this.#record, message, data);
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  get runId(): string {
    return this.#host.runId;
  }

  get nodeId(): string {
    return this.#record.nodeId;
  }

  get position(): string {
    return this.#record.position;
  }

  get runInput(): JsonValue {
    return this.#host.runInput;
  }

  get memory(): Memory | null {
    return this.#host.memory;
  }

  get idempotencyKey(): string {
    return this.#host.key(this.#record.firstPosition);
  }

  abort(reason: string): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(new HoldfastError('ABORTED', reason));
  }

  /** Whether a step has begun and not ended. */
  get hasOpenSteps(): boolean {
    return this.#openSteps > 0;
  }

  /** Whether one of them must not be run again without asking. */
  get hasUnsafeOpenStep(): boolean {
    return this.#unsafeSteps > 0;
  }

  /** Calls `callback` once, when the last open step ends. */
  onIdle(callback: () => void): void {
    this.#onIdle = callback;
  }

  /** The attempt is over: its steps count for nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#onIdle = null;
  }

  #beginStep<Result extends StepResult>(
    name: string,
    body: (step: StepContext) => Result | Promise<Result>,
    options: StepOptions = {},
  ): Promise<Result> {
    this.#openSteps += 1;
    const step = this.#runStepOnce(name, body, options);
    const ended = () => this.#stepEnded();
    // It also marks the promise as handled: node code may let a step run and never look at it.
    step.then(ended, ended);
    return step;
  }

  #stepEnded(): void {
    this.#openSteps -= 1;
    if (this.#openSteps > 0) return;
    const callback = this.#onIdle;
    this.#onIdle = null;
    callback?.();
  }

  async #runStepOnce<Result extends StepResult>(
    name: string,
    body: (step: StepContext) => Result | Promise<Result>,
    options: StepOptions,
  ): Promise<Result> {
    this.#requireOpen();
    this.#takeName(name);
    const known = this.#host.step(this.#record, name);
    if (known !== undefined && known.kind !== 'started') return this.#replay<Result>(known);
    const isUnsafe = options.retrySafe !== true;
    if (isUnsafe) this.#unsafeSteps += 1;
    try {
      if (isUnsafe) await this.#host.startStep(this.#record, name);
      this.#requireOpen();
      const outcome = await this.#runStep(name, body);
      this.#requireOpen();
      return this.#replay<Result>(await this.#host.recordStep(this.#record, name, outcome));
    } finally {
      if (isUnsafe) this.#unsafeSteps -= 1;
    }
  }

  #requireOpen(): void {
    if (!this.#isClosed) return;
    const { nodeId, position } = this.#record;
    throw new HoldfastError(
      'ABORTED',
      `The attempt of ${nodeId} at ${position} is over: its steps are neither run nor recorded. ` +
        'Wait for every step before the node returns.',
      { nodeId, position },
    );
  }

  #replay<Result>(outcome: RecordedStep): Result {
    if (outcome.kind === 'failed') {
      const { code, message, retryable = true } = outcome;
      throw new NodeFailure(code, message, { retryable });
    }
    return outcome.result as Result;
  }

  async #runStep(name: string, body: (step: StepContext) => unknown): Promise<RecordedStep> {
    const key = () => this.#host.key(this.#record.firstPosition, name);
    const context = this;
    try {
      const returned = body({
        get signal() {
          return context.signal;
        },
        get idempotencyKey() {
          return key();
        },
      });
      // What is no promise is copied at once: its owner may change it before the next microtask.
      return completedStep(isPromiseLike(returned) ? await returned : returned);
    } catch (error) {
      const failure = failureOf(error, this.#controller?.signal.aborted);
      const { code, message } = failure;
      const verdict = failure.retryable ? {} : ({ retryable: false } as const);
      return { kind: 'failed', position: this.#record.position, code, message, ...verdict };
    }
  }

  #takeName(name: string): void {
    const fault = textFault(name);
    if (fault !== null || name.length > MAX_STEP_NAME_LENGTH) {
      throw new HoldfastError(
        'INVALID_OPTION',
        `A step of ${this.#record.nodeId} has no usable name: ` +
          `${fault ?? `it is longer than ${MAX_STEP_NAME_LENGTH} characters`}.`,
        { nodeId: this.#record.nodeId },
      );
    }
    this.#usedSteps ??= new Set();
    if (this.#usedSteps.has(name)) {
      throw new HoldfastError(
        'STEP_REPEATED',
        `Step ${JSON.stringify(name)} is used twice in one attempt of ${this.#record.nodeId}.`,
        { nodeId: this.#record.nodeId, step: name },
      );
    }
    this.#usedSteps.add(name);
  }
}

function completedStep(value: unknown): RecordedStep {
  return { kind: 'completed', result: cloneFrozenJson(value === undefined ? null : value) };
}
