/** Makes attempts of this executor's positions: binding, host behind the context, limits. */
import { Attempt, type AttemptSetting } from '../attempt/attempt.ts';
import type { ChildRun, NodeBinding, PauseAttempt } from '../attempt/binding.ts';
import {
  AttemptContext,
  type AttemptHost,
  type EngineHost,
  type RecordedStep,
} from '../attempt/context.ts';
import type { EngineReceipt } from '../attempt/engine-work.ts';
import { fitText, jsonBytes } from '../attempt/fitting-text.ts';
import { type AttemptOutcome, failed, soundFailure, soundOutcome } from '../attempt/outcome.ts';
import { quietly } from '../attempt/quietly.ts';
import { errorText } from '../base/errors.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { PositionRecord, StepRecord } from '../run/position-record.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { RunFold } from '../run/run-fold.ts';
import { jsonExceeds } from '../store/json-size.ts';
import { createGitInspector } from '../workspace/git-inspector.ts';
import { BudgetFacts } from './budget-facts.ts';
import { budgetKey } from './child-budgets.ts';
import { NodeBook } from './node-book.ts';
import type { ExecutorSettings } from './options.ts';
import { ownRecord } from './outcome-item.ts';
import { writeDeadLane } from './record-engine.ts';
import { maxResultBytes } from './result-limit.ts';
import { childRunId } from './run-names.ts';
import { SecretGuard } from './secret-guard.ts';
import { AwaitedItem, type TurnItem } from './turn-item.ts';

/** What the factory needs of the loop. */
export interface AttemptLoop {
  /** Throws `OWNERSHIP_LOST` once the executor has let go of the run. */
  readonly fold: () => RunFold;
  readonly hasLetGo: () => boolean;
  readonly submit: (item: TurnItem) => void;
  readonly settled: (attempt: Attempt, outcome: AttemptOutcome) => void;
  readonly runChild: (
    record: PositionRecord,
    child: ChildRun,
    signal: AbortSignal,
  ) => Promise<JsonValue | PauseAttempt>;
}

/** What of them a reason may take when the request leaves nothing. */
const LEAST_REASON_BYTES = 64;

export class AttemptFactory {
  /** What the token budgets of its nodes know of the run. */
  readonly budgets: BudgetFacts;
  readonly #settings: ExecutorSettings;
  readonly #loop: AttemptLoop;
  readonly #host: AttemptHost;
  readonly #setting: AttemptSetting;
  readonly #guard: SecretGuard;
  readonly #nodes: NodeBook;
  readonly #hasChildren: boolean;

  constructor(settings: ExecutorSettings, loop: AttemptLoop) {
    this.#settings = settings;
    this.#loop = loop;
    this.#guard = new SecretGuard(settings.storage.knownSecrets);
    this.#nodes = new NodeBook(settings);
    this.budgets = new BudgetFacts(settings);
    this.#host = this.#createHost();
    this.#setting = this.#createSetting();
    this.#hasChildren = [...settings.bindings.values()].some(({ child }) => child !== null);
  }

  /** The node's binding. Throws `MISSING_NODE_BINDING`. */
  binding(nodeId: string): NodeBinding {
    return this.#nodes.binding(nodeId);
  }

  /** Whether an attempt of this run can be a run of its own. */
  get hasChildren(): boolean {
    return this.#hasChildren;
  }

  /** The id of the run that stands for an attempt of this position, or null. */
  childIdOf({ nodeId, position }: PositionRecord): string | null {
    const { stream, hash } = this.#settings;
    const hasChild = this.binding(nodeId).child !== null;
    return hasChild ? childRunId(stream.streamId, position, hash) : null;
  }

  /** The run that stands for an attempt of this position, or null when node code does. */
  childOf(record: PositionRecord): ChildRun | null {
    const { child } = this.binding(record.nodeId);
    return child?.(record.input, new AttemptContext(record, this.#host)) ?? null;
  }

  create(record: PositionRecord, policyAnswered: boolean): Attempt {
    const binding = this.binding(record.nodeId);
    return new Attempt({ record, binding, setting: this.#setting, policyAnswered });
  }

  #createSetting(): AttemptSetting {
    const { clock, graph, storage } = this.#settings;
    return {
      host: this.#host,
      inspector: createGitInspector(),
      clock,
      maxResultBytes: (record) => maxResultBytes(storage.record.policy, record),
      validateResult: graph.validateNodeResult ?? null,
      storeLargeResult: (text) => this.#storeLargeResult(text),
      onSettled: (attempt, outcome) =>
        this.#loop.settled(attempt, this.recordable(attempt.record, outcome)),
    };
  }

  /** The outcome without secrets, and only then cut to what an event holds beside the rest. */
  recordable(record: PositionRecord, given: AttemptOutcome): AttemptOutcome {
    const outcome = soundOutcome(this.#guard.outcome(record.nodeId, given));
    if (outcome.kind === 'completed') return outcome;
    const room = this.#setting.maxResultBytes(record);
    if (outcome.kind === 'failed') return this.#fitting(outcome, room);
    const left = Math.max(room - jsonBytes(outcome.request), LEAST_REASON_BYTES);
    const reason = fitText(outcome.reason, left);
    return reason === outcome.reason ? outcome : { ...outcome, reason };
  }

  /** The same of an outcome that no attempt has judged and measured: the end of a wait. */
  recordableEnding(record: PositionRecord, given: AttemptOutcome): AttemptOutcome {
    const outcome = this.#judged(record.nodeId, given);
    const isFit =
      outcome.kind !== 'completed' ||
      !jsonExceeds(outcome.result, this.#setting.maxResultBytes(record));
    if (isFit) return this.recordable(record, outcome);
    const text = `The result of ${record.nodeId} is larger than an event of this run holds.`;
    return failed('RESULT_TOO_LARGE', text, false);
  }

  #judged(nodeId: string, outcome: AttemptOutcome): AttemptOutcome {
    if (outcome.kind !== 'completed') return outcome;
    try {
      return { kind: 'completed', result: this.#nodes.resultOf(nodeId, outcome.result) };
    } catch (error) {
      return failed('RESULT_INVALID', errorText(error), false);
    }
  }

  #fitting<Failure extends { readonly code: string; readonly message: string }>(
    failure: Failure,
    room: number,
  ): Failure {
    const message = fitText(failure.message, room - jsonBytes(failure.code));
    return message === failure.message ? failure : { ...failure, message };
  }

  async #storeLargeResult(text: string): Promise<JsonValue> {
    const { storage, stream } = this.#settings;
    const reference = await storage.artifactStore.write(
      { namespace: stream.namespace, runId: stream.streamId },
      {
        bytes: Buffer.from(text),
        mediaType: 'application/json',
        purpose: 'node-result',
        contentMode: 'state',
      },
    );
    return { ...reference };
  }

  #createHost(): AttemptHost {
    const { stream, runInput, memory, hash, onLog } = this.#settings;
    const loop = this.#loop;
    return {
      runId: stream.streamId,
      runInput,
      memory,
      key: (...parts) =>
        `sha256:${hash(JSON.stringify([stream.namespace, stream.streamId, ...parts]))}`,
      step: (record, name) => {
        this.#requireHarmless(record, name);
        return knownStep(loop.fold(), record, name);
      },
      // Asked by a timer, which may outlive the executor's hold: then nothing is certain.
      hasUncertainStep: (record) =>
        loop.hasLetGo() || loop.fold().steps.uncertain(record.firstPosition).length > 0,
      startStep: (record, name) => startStep(loop, record, name),
      recordStep: (record, name, outcome) => this.#recordStep(record, name, outcome),
      runChild: (record, child, signal) => loop.runChild(record, child, signal),
      log: (record, message, data) => {
        const line = logLine(stream.streamId, record, message, data);
        // What a host does with its lines is no affair of the node.
        quietly(() => onLog(this.#guard.line(line)));
      },
      ...this.#createEngineHost(),
    };
  }

  #createEngineHost(): EngineHost {
    const { stream, lanes, engines, onEngineEvent } = this.#settings;
    const { namespace, streamId: runId } = stream;
    const loop = this.#loop;
    return {
      liveSeats: ({ nodeId }) => {
        const lane = lanes.laneOf(nodeId);
        if (lane === null) return { effective: null, fallbacks: [] };
        return engines.live(lane, loop.fold());
      },
      recordDeadLane: (record, receipt) => recordDeadLane(loop, record, receipt),
      listener: ({ nodeId, position }) =>
        this.#guard.listen({ runId, nodeId, position }, onEngineEvent),
      harmless: (identity) => this.#guard.harmless(identity),
      budgetKey: (nodeId) => budgetKey(namespace, runId, nodeId),
      usage: (nodeId) => loop.fold().engines.usage.of(nodeId),
    };
  }

  async #recordStep(
    record: PositionRecord,
    name: string,
    outcome: RecordedStep,
  ): Promise<RecordedStep> {
    const screened = this.#screenedStep(record, name, outcome);
    const large = screened.kind === 'completed' ? screened.result : screened.message;
    const item = new AwaitedItem(512 + JSON.stringify(large).length * 2, (batch) => {
      const { position } = ownRecord(batch.machine.fold, record);
      const payload = { position, step: name, ...stepFields(screened) };
      batch.write('graph:node-step-recorded', payload, large);
    });
    this.#loop.submit(item);
    await item.done;
    return screened;
  }

  #screenedStep(record: PositionRecord, name: string, outcome: RecordedStep): RecordedStep {
    const failure = { kind: 'failed', position: record.position } as const;
    const room = this.#setting.maxResultBytes(record) - jsonBytes(name);
    if (outcome.kind === 'completed' && jsonExceeds(outcome.result, room)) {
      const message = `The result of step ${name} is larger than an event holds.`;
      return this.#fitting({ ...failure, code: 'RESULT_TOO_LARGE', message }, room);
    }
    if (outcome.kind === 'failed' && !this.#guard.holdsSecret(outcome.code)) {
      const message = this.#guard.text(outcome.message);
      return this.#fitting(soundFailure({ ...outcome, message }), room);
    }
    if (this.#guard.holdsSecret(outcome)) {
      const message = `The outcome of step ${name} holds a known secret and was not recorded.`;
      return this.#fitting({ ...failure, code: 'KNOWN_SECRET', message }, room);
    }
    return outcome;
  }

  /** A name that holds a known secret fails its step before anything of it is written. */
  #requireHarmless(record: PositionRecord, name: string): void {
    if (!this.#guard.holdsSecret(name)) return;
    const { nodeId } = record;
    throw new GraphExecutionError(
      'KNOWN_SECRET',
      `A step of ${nodeId} was not run: its name holds a known secret. Name it without.`,
      { nodeId },
    );
  }
}

function stepFields(outcome: RecordedStep) {
  if (outcome.kind === 'completed') return { result: outcome.result };
  const { code, message, retryable } = outcome;
  return { code, message, ...(retryable === undefined ? {} : { retryable }) };
}

/** A failure of another attempt, or one by a halt, does not count: the step runs again. */
function knownStep(fold: RunFold, record: PositionRecord, name: string): StepRecord | undefined {
  const known = fold.steps.get(record.firstPosition, name);
  if (known?.kind !== 'failed') return known;
  const counts = known.position === record.position && known.code !== 'ABORTED';
  return counts ? known : undefined;
}

function startStep(loop: AttemptLoop, record: PositionRecord, step: string): Promise<void> {
  const item = new AwaitedItem(512, (batch) => {
    const { position } = ownRecord(batch.machine.fold, record);
    batch.write('graph:node-step-started', { position, step, retrySafe: false });
  });
  loop.submit(item);
  return item.done;
}

function recordDeadLane(
  loop: AttemptLoop,
  record: PositionRecord,
  receipt: EngineReceipt,
): Promise<void> {
  const item = new AwaitedItem(1_024, (batch) => {
    writeDeadLane(batch, ownRecord(batch.machine.fold, record), receipt);
  });
  loop.submit(item);
  return item.done;
}

function logLine(
  runId: string,
  record: PositionRecord,
  message: string,
  data: JsonObject | undefined,
) {
  const { nodeId, position } = record;
  return { runId, nodeId, position, message, ...(data === undefined ? {} : { data }) };
}
