/**
 * One attempt of one position: the only place where node code is called.
 *
 * Invariants: it settles at most once and never throws; what it settles with is JSON within the
 * limits, copied at the moment the code returned; the steps it began have ended and are recorded
 * before it settles, unless its time is over; after `abandon` nothing is heard of it again.
 */
import { errorText, isHoldfastError } from '../base/errors.ts';
import { cloneFrozenJson, type JsonValue, JsonValueError } from '../base/json.ts';
import type { Clock, Timer } from '../base/ports.ts';
import type { PositionRecord } from '../run/position-record.ts';
import { jsonExceeds } from '../store/json-size.ts';
import { underWorkspacePolicy } from '../workspace/guarded-effect.ts';
import type { WorkspaceInspector } from '../workspace/workspace-inspection.ts';
import { readActionDecision } from './action-policy.ts';
import { type ActionDecision, type NodeBinding, PauseAttempt } from './binding.ts';
import { AttemptContext, type AttemptHost } from './context.ts';
import { EngineRoute } from './engine-route.ts';
import type { EngineReceipt, EngineWork } from './engine-work.ts';
import { changeLimits, outputFault, requireInputWithin } from './limits.ts';
import { type AttemptOutcome, failed, failureOf } from './outcome.ts';
import { isPromiseLike } from './promise-like.ts';
import { contracted, type ResultCheck, resultFault } from './result-rule.ts';

/** What all attempts of an executor share. */
export interface AttemptSetting {
  readonly host: AttemptHost;
  readonly clock: Clock;
  /** The largest result that an event may hold, in bytes of its JSON text. */
  readonly maxResultBytes: (record: PositionRecord) => number;
  readonly validateResult: ResultCheck | null;
  /** Stores a result that is too large for an event and returns what stands for it. */
  readonly storeLargeResult: (text: string) => Promise<JsonValue>;
  readonly inspector: WorkspaceInspector;
  readonly onSettled: (attempt: Attempt, outcome: AttemptOutcome) => void;
}

/** What an attempt is given by whoever runs it. */
export interface AttemptOptions {
  readonly record: PositionRecord;
  readonly binding: NodeBinding;
  readonly setting: AttemptSetting;
  /** Whether an answer has already allowed what the action policy would ask. */
  readonly policyAnswered: boolean;
}

export class Attempt {
  readonly record: PositionRecord;
  readonly graceMs: number;
  readonly #options: AttemptOptions;
  readonly #context: AttemptContext;
  #timer: Timer | null = null;
  #state: 'running' | 'late' | 'aborting' | 'done' = 'running';
  /** Whether the code has come to its end; the attempt may still wait for steps. */
  #hasEnded = false;
  #route: EngineRoute | null = null;
  #endsAtMs: number | null = null;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.record = options.record;
    // A child run gives its own attempts their grace, and undoes what it must, before it stops.
    this.graceMs =
      options.binding.child === null ? options.binding.graceMs : Number.POSITIVE_INFINITY;
    this.#context = new AttemptContext(options.record, options.setting.host);
  }

  /** Calls the node code. */
  start(): void {
    const { binding } = this.#options;
    if (binding.timeoutMs !== null) this.#armDeadline(binding.timeoutMs);
    if (binding.decideAction !== null && !this.#options.policyAnswered) {
      void this.#runUnderPolicy(binding.decideAction);
      return;
    }
    this.#run();
  }

  /** Tells the node code to stop; what settles now is `ABORTED` unless it is a result. */
  abort(reason: string): void {
    if (this.#state === 'aborting' || this.#state === 'done') return;
    this.#state = 'aborting';
    this.#context.abort(reason);
  }

  /** Lets go of the attempt: nothing it does from now on counts. */
  abandon(): void {
    this.#done();
    this.#context.abort('The attempt was abandoned.');
  }

  /** The receipt of an engine call that is to be recorded beside the outcome. */
  get receipt(): EngineReceipt | null {
    return this.#route?.receipt ?? null;
  }

  /** False once it has settled or was abandoned. */
  get isLive(): boolean {
    return this.#state !== 'done';
  }

  #run(): void {
    const { binding, record } = this.#options;
    let returned: unknown;
    try {
      returned =
        binding.workspace.mode === 'none'
          ? this.#call(binding, record)
          : this.#callInWorkspace(binding, record);
      if (isPromiseLike(returned)) {
        returned.then(
          (value) => this.#returned(value),
          (error: unknown) => this.#threw(error),
        );
        return;
      }
    } catch (error) {
      this.#threw(error);
      return;
    }
    this.#returned(returned);
  }

  /** What the code did to the worktree outranks what it says of itself. */
  #callInWorkspace(binding: NodeBinding, record: PositionRecord): Promise<unknown> {
    const { workspace: policy, limits } = binding;
    const { inspector } = this.#options.setting;
    const { signal } = this.#context;
    return underWorkspacePolicy({ policy, limits: changeLimits(limits), inspector, signal }, () =>
      this.#call(binding, record),
    );
  }

  /** What the code of the node returns: a function, an engine's route or a run of its own. */
  #call(binding: NodeBinding, record: PositionRecord): unknown {
    if (binding.engine !== null) return this.#runEngine(binding.engine);
    if (binding.child !== null) return this.#runChild();
    requireInputWithin(binding.limits, record);
    return binding.run(record.input, this.#context, record);
  }

  #runEngine(work: EngineWork): Promise<unknown> {
    const { binding, record, setting } = this.#options;
    const { clock, host } = setting;
    const context = this.#context;
    const timeLeftMs = () => (this.#endsAtMs === null ? null : this.#endsAtMs - clock.now());
    this.#route = new EngineRoute({ record, binding, work, context, host, timeLeftMs });
    return this.#route.run();
  }

  async #runChild(): Promise<unknown> {
    const { binding, setting, record } = this.#options;
    const child = binding.child?.(record.input, this.#context);
    if (child === undefined) return null;
    const ended = await setting.host.runChild(record, child, this.#context.signal);
    return ended instanceof PauseAttempt ? ended : binding.childResult(ended);
  }

  async #runUnderPolicy(decide: NonNullable<NodeBinding['decideAction']>): Promise<void> {
    try {
      this.#follow(readActionDecision(await decide(this.record.input, this.#context)));
    } catch (error) {
      this.#settle(failed('ACTION_POLICY', `The action policy failed: ${errorText(error)}`, true));
    }
  }

  #follow(decision: ActionDecision): void {
    if (!this.isLive) return;
    if (decision.kind === 'allow') {
      // Told to stop while the policy was asked: the code is not called any more.
      if (this.#context.signal.aborted) this.#threw(this.#context.signal.reason);
      else this.#run();
    } else if (decision.kind === 'deny') {
      this.#settle(failed('DENIED', decision.reason, false));
    } else {
      this.#returned(new PauseAttempt(decision.reason, { ...decision.request, kind: 'policy' }));
    }
  }

  /** False when the end does not count: a thenable may call back twice. */
  #ends(): boolean {
    if (!this.isLive || this.#hasEnded) return false;
    this.#hasEnded = true;
    return true;
  }

  #returned(value: unknown): void {
    if (!this.#ends()) return;
    let result: JsonValue;
    try {
      if (value instanceof PauseAttempt) {
        this.#pause(value);
        return;
      }
      result = contracted(
        this.#options.binding,
        cloneFrozenJson(value === undefined ? null : value),
      );
    } catch (error) {
      this.#settle(resultInvalid(this.record, error));
      return;
    }
    this.#complete(result);
  }

  #pause(pause: PauseAttempt): void {
    try {
      const request = cloneFrozenJson<PauseAttempt['request']>(pause.request);
      const maxBytes = this.#options.setting.maxResultBytes(this.record);
      if (jsonExceeds(request, maxBytes)) {
        this.#settle(tooLarge(this.record, 'pause request', maxBytes));
      } else {
        this.#settle({ kind: 'paused', reason: String(pause.reason), request });
      }
    } catch (error) {
      this.#settle(resultInvalid(this.record, error));
    }
  }

  #complete(result: JsonValue): void {
    const { binding, setting } = this.#options;
    const overLimit = outputFault(binding.limits, this.record.nodeId, result);
    if (overLimit !== null) {
      this.#settle(failed('OUTPUT_LIMIT', overLimit, true));
      return;
    }
    const maxBytes = setting.maxResultBytes(this.record);
    if (!jsonExceeds(result, maxBytes)) {
      this.#settle(this.#checked(result));
    } else if (binding.largeResult === 'artifact') {
      void this.#completeByReference(result);
    } else {
      this.#settle(tooLarge(this.record, 'result', maxBytes));
    }
  }

  /** The graph judges what it is to reduce: of a result kept as an artifact, the reference. */
  #checked(result: JsonValue): AttemptOutcome {
    const { validateResult } = this.#options.setting;
    const fault = resultFault(validateResult, this.record.nodeId, result);
    return fault === null ? { kind: 'completed', result } : failed('RESULT_INVALID', fault, true);
  }

  async #completeByReference(result: JsonValue): Promise<void> {
    const { setting, binding } = this.#options;
    const { of, replaced } = binding.largePart;
    try {
      const artifact = await setting.storeLargeResult(JSON.stringify(of(result)));
      this.#settle(this.#checked(cloneFrozenJson(replaced({ artifact }))));
    } catch (error) {
      this.#settle(unstored(this.record, error));
    }
  }

  #threw(error: unknown): void {
    if (!this.#ends()) return;
    if (isChangeFault(error)) {
      this.#settle(failureOf(error));
    } else if (this.#state === 'aborting') {
      this.#settle(abortedOutcome(this.record, errorText(error)));
    } else if (this.#state === 'late') {
      this.#settle(failed('TIMEOUT', errorText(error), true));
    } else {
      this.#settle(failureOf(error));
    }
  }

  #armDeadline(timeoutMs: number): void {
    const { setting, binding } = this.#options;
    const { clock } = setting;
    this.#endsAtMs = clock.now() + timeoutMs;
    this.#timer = clock.after(timeoutMs, () => {
      if (this.#state === 'running') this.#state = 'late';
      this.#context.abort(`The attempt's time of ${timeoutMs} ms is over.`);
      this.#timer = clock.after(binding.graceMs, () => this.#neverSettled(timeoutMs));
    });
  }

  /** Nobody knows what such an attempt did: only a retry-safe one may be tried again. */
  #neverSettled(timeoutMs: number): void {
    const retrySafe = this.record.started?.retrySafe ?? false;
    const isUncertain =
      this.#context.hasUnsafeOpenStep || this.#options.setting.host.hasUncertainStep(this.record);
    const text = `${this.record.nodeId} did not settle within ${timeoutMs} ms.`;
    // Also when it was told to stop meanwhile: the receipt says what the outcome says.
    this.#route?.close('timeout');
    this.#settleNow(failed('TIMEOUT', text, retrySafe && !isUncertain));
  }

  /** Settles with what the code came to, at once or when the steps it left running have ended. */
  #settle(outcome: AttemptOutcome): void {
    if (this.#context.hasOpenSteps) this.#context.onIdle(() => this.#settleSoon(outcome));
    else this.#settleNow(outcome);
  }

  /** Whoever waited for the last step goes on first: a step that follows it counts as well. */
  #settleSoon(outcome: AttemptOutcome): void {
    this.#options.setting.clock.soon(() => this.#settle(outcome));
  }

  #settleNow(outcome: AttemptOutcome): void {
    if (!this.isLive) return;
    this.#done();
    this.#options.setting.onSettled(this, outcome);
  }

  #done(): void {
    this.#route?.close(this.#state === 'late' ? 'timeout' : 'aborted');
    this.#state = 'done';
    this.#context.close();
    this.#timer?.cancel();
    this.#timer = null;
  }
}

/** True when the workspace of an attempt was changed in a way that its policy does not allow. */
function isChangeFault(error: unknown): boolean {
  return isHoldfastError(error, 'WORKSPACE_VIOLATION') || isHoldfastError(error, 'WORKSPACE_LIMIT');
}

/** What an attempt is recorded with that was told to stop; retryable as its start record says. */
function abortedOutcome(record: PositionRecord, message: string): AttemptOutcome {
  return failed('ABORTED', message, record.started?.retrySafe ?? true);
}

/** A large result that the store did not take: too large for it too, or refused otherwise. */
function unstored({ nodeId }: PositionRecord, error: unknown): AttemptOutcome {
  const { code, retryable } = failureOf(error);
  const text = `The result of ${nodeId} could not be stored: ${errorText(error)}`;
  if (code === 'STORAGE_LIMIT_EXCEEDED') return failed('RESULT_TOO_LARGE', text, false);
  return { ...failed('EFFECT_FAILED', text, retryable), code };
}

function resultInvalid(record: PositionRecord, error: unknown): AttemptOutcome {
  const text =
    error instanceof JsonValueError
      ? `${record.nodeId} returned a value that is not JSON: ${errorText(error)}`
      : `${record.nodeId} returned a value that is not its result: ${errorText(error)}`;
  return failed('RESULT_INVALID', text, true);
}

function tooLarge(record: PositionRecord, what: string, maxBytes: number): AttemptOutcome {
  const text = `The ${what} of ${record.nodeId} is over the ${maxBytes} bytes that an event holds.`;
  return failed('RESULT_TOO_LARGE', text, false);
}
