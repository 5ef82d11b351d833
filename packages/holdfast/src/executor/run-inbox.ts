/**
 * The calls of an executor: what comes from outside becomes an item of the next turn, or, when
 * nothing is driven here, an append of its own. What concerns a child run is handed to it.
 */

import { textFault } from '../base/identifier.ts';
import { cloneFrozenJson, type JsonValue } from '../base/json.ts';
import { requireObject } from '../base/option.ts';
import { isoTime } from '../base/time.ts';
import type { EventPayloads } from '../history/catalog.ts';
import type { NewEvent } from '../history/envelope.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { RunFold } from '../run/run-fold.ts';
import { hashText } from '../store/host-hash.ts';
import { viewRun } from '../views/run-view.ts';
import { writeAnswer } from './answer-pause.ts';
import type { Driver } from './driver.ts';
import { EntryCheck } from './entry-check.ts';
import type { ChildExecutor, Reconciliation } from './executor.ts';
import { NodeBook } from './node-book.ts';
import type { ExecutorSettings } from './options.ts';
import { writeReconciliation } from './reconcile-attempt.ts';
import type { ReconcileRequest } from './reconcile-request.ts';
import { NOTHING_RESUMED, type Resumed, type ResumeTarget, resumed } from './resume-target.ts';
import { recordedEnd } from './run-end.ts';
import { allPauses, checkedChildAt } from './run-pauses.ts';
import { TrialItem } from './trial-item.ts';
import type { TurnBatch } from './turn-batch.ts';
import { AwaitedItem } from './turn-item.ts';

type OutsideType = 'graph:signal-received' | 'graph:cancel-requested';

/** How often what is sent is folded before it goes to whatever the end is. */
const MAX_TRIES = 8;

interface SignalOptions {
  readonly signalId: string;
}

/** The executor that `driver` drives. */
export function createRunInbox(driver: Driver, settings: ExecutorSettings): ChildExecutor {
  const inbox = new RunInbox(driver, settings);
  return Object.freeze({
    runId: settings.stream.streamId,
    run: (signal?: AbortSignal) => driver.drive(signal, NOTHING_RESUMED),
    resume: async (target: ResumeTarget, signal?: AbortSignal) => {
      const asked = resumed(target);
      const own = await ownTarget(driver, asked);
      const drive = driver.drive(signal, own);
      return own === asked ? drive : drive.finally(() => driver.children.forgetChecks());
    },
    answer: (pauseId: string, answer: JsonValue, options: { readonly by: string }) =>
      inbox.answer(pauseId, answer, options),
    reconcile: (pauseId: string, reconciliation: Reconciliation) =>
      inbox.reconcile(pauseId, reconciliation),
    signal: (name: string, payload: JsonValue, options: SignalOptions) =>
      inbox.signal(name, payload, options),
    trySignal: (name: string, payload: JsonValue, options: SignalOptions) =>
      inbox.trySignal(name, payload, options),
    hasSignal: (signalId: string) => driver.look(({ signals }) => signals.has(signalId)),
    cancel: (options: { readonly by: string; readonly reason: string }) => inbox.cancel(options),
    shutdown: () => driver.shutdown(),
    pauses: () => allPauses(driver),
    view: () =>
      viewRun(settings.stream.streamId, settings.storage.eventStore.read(settings.stream)),
  });
}

/** A pause of a child's engine checks is ended by re-opening the position of that child. */
async function ownTarget(driver: Driver, target: Resumed): Promise<Resumed> {
  const { preflightEventId } = target;
  if (preflightEventId === null || driver.isDriving) return target;
  const position = await driver.look((fold) => checkedChildAt(fold, preflightEventId));
  if (position === null) return target;
  driver.children.resumeChecks(position, preflightEventId);
  return { positions: [position], preflightEventId: null };
}

class RunInbox {
  readonly #driver: Driver;
  readonly #settings: ExecutorSettings;
  readonly #entry: EntryCheck;
  readonly #nodes: NodeBook;

  constructor(driver: Driver, settings: ExecutorSettings) {
    this.#driver = driver;
    this.#entry = new EntryCheck(settings.storage);
    this.#nodes = new NodeBook(settings);
    this.#settings = settings;
  }

  async answer(pauseId: string, given: JsonValue, options: { readonly by: string }): Promise<void> {
    requireText('pauseId', pauseId);
    requireObject('options', options);
    const { by } = options;
    requireText('by', by);
    const answer = cloneFrozenJson(given);
    this.#entry.admit('answer', [answer, by]);
    const child = await this.#childOf(pauseId);
    if (child !== null) {
      await child.executor.answer(pauseId, answer, { by });
      await this.#driver.childCanGoOn(child.position);
      return;
    }
    const rules = {
      endingsOf: (nodeId: string) => this.#nodes.endingsOf(nodeId),
      fits: (result: JsonValue) => this.#entry.fits(result),
      resultOf: (nodeId: string, value: JsonValue) => this.#resultOf(nodeId, value),
    };
    await this.#record(answer, (batch) => {
      writeAnswer(batch, { pauseId, answer, by }, rules);
    });
  }

  async reconcile(pauseId: string, given: Reconciliation): Promise<void> {
    requireText('pauseId', pauseId);
    requireObject('reconciliation', given);
    requireText('by', given.by);
    requireText('reason', given.reason);
    checkReconciliation(given);
    const child = await this.#childOf(pauseId);
    if (child !== null) {
      await child.executor.reconcile(pauseId, given);
      await this.#driver.childCanGoOn(child.position);
      return;
    }
    const request = cloneFrozenJson<ReconcileRequest>({ ...given, pauseId });
    this.#entry.admit('reconciliation', request as unknown as JsonValue);
    await this.#record(request as unknown as JsonValue, (batch) => {
      writeReconciliation(batch, request, (nodeId, value) => this.#resultOf(nodeId, value));
    });
  }

  /** What comes of a value may be larger than what was sent, or hold what that did not. */
  #resultOf(nodeId: string, value: JsonValue): JsonValue {
    const result = this.#nodes.resultOf(nodeId, value);
    if (result !== value) this.#entry.admit('result', result);
    return result;
  }

  async trySignal(name: string, payload: JsonValue, options: SignalOptions): Promise<void> {
    this.#entry.admit('signal', [name, options.signalId, payload]);
    const child = await this.#driver.openChildren.waitingFor(name);
    if (child !== null) return child.executor.trySignal(name, payload, options);
    const at = isoTime(this.#settings.clock.now());
    const message = { name, signalId: options.signalId, payload, at };
    const item = new TrialItem(1_024 + JSON.stringify(payload).length * 2, (batch) => {
      if (isRepeat(batch.machine.fold, 'graph:signal-received', message)) return;
      batch.write('graph:signal-received', message, payload);
    });
    this.#driver.submit(item);
    await item.done;
  }

  async signal(name: string, given: JsonValue, options: SignalOptions): Promise<void> {
    requireText('name', name);
    requireObject('options', options);
    const { signalId } = options;
    requireText('signalId', signalId);
    const payload = cloneFrozenJson(given);
    this.#entry.admit('signal', [name, signalId, payload]);
    if (await this.#driver.look((fold) => fold.end !== null || fold.signals.has(signalId))) return;
    // The run's own record says whose the message is before anyone has it: a repeat finds it.
    const child = await this.#driver.openChildren.waitingFor(name);
    await child?.executor.trySignal(name, payload, { signalId });
    const at = isoTime(this.#settings.clock.now());
    const id = `signal/${hashText(signalId).slice(0, 40)}`;
    const whose = child === null ? {} : { position: child.position };
    await this.#outside('graph:signal-received', { name, signalId, payload, at, ...whose }, id);
    if (child === null) return;
    const isChilds = await this.#driver.look(({ signals }) =>
      signals.handedTo(child.position).some((each) => each.signalId === signalId),
    );
    if (isChilds) await child.executor.signal(name, payload, { signalId });
  }

  async cancel(options: { readonly by: string; readonly reason: string }): Promise<void> {
    requireObject('options', options);
    const { by, reason } = options;
    requireText('by', by);
    requireText('reason', reason);
    this.#entry.admit('cancel request', [by, reason]);
    const at = isoTime(this.#settings.clock.now());
    await this.#outside('graph:cancel-requested', { by, reason, at }, 'cancel');
  }

  async #record(sized: JsonValue, write: (batch: TurnBatch) => void): Promise<void> {
    const item = new AwaitedItem(1_024 + JSON.stringify(sized).length * 2, write);
    this.#driver.submit(item);
    await item.done;
  }

  /**
   * A signal is recorded behind what was folded, so that none is recorded that the graph cannot
   * fold. It goes to whatever the end is when others write faster than it is folded, and so does
   * a cancel unless it is driven here: no graph code can be in its way.
   */
  async #outside<Type extends OutsideType>(
    type: Type,
    payload: EventPayloads[Type],
    id: string,
  ): Promise<void> {
    const sized = 'payload' in payload ? payload.payload : null;
    if (type === 'graph:signal-received' || this.#driver.isDriving) {
      let tries = 0;
      await this.#record(sized, (batch) => {
        tries += 1;
        if (tries > MAX_TRIES || isRepeat(batch.machine.fold, type, payload)) return;
        batch.write(type, payload, sized, id);
        batch.asksDecision ||= !('position' in payload);
      });
      if (tries <= MAX_TRIES) return;
    }
    await this.#appendAtEnd(type, payload, id);
  }

  /** A repeat is known by its id; an end is known without any graph code. */
  async #appendAtEnd<Type extends OutsideType>(
    type: Type,
    payload: EventPayloads[Type],
    id: string,
  ): Promise<void> {
    const { storage, stream } = this.#settings;
    if ((await recordedEnd(storage, stream)) !== null) return;
    const event: NewEvent = {
      id,
      type,
      version: 1,
      timestamp: payload.at,
      payload: cloneFrozenJson(payload),
    };
    await storage.eventStore.append(stream, 'end', [event]);
  }

  #childOf(pauseId: string) {
    const runId = pauseId.slice(0, Math.max(0, pauseId.lastIndexOf('@')));
    return this.#driver.openChildren.owning(runId);
  }
}

/** True when the run has ended, or has what is sent already. */
function isRepeat(fold: RunFold, type: OutsideType, payload: EventPayloads[OutsideType]): boolean {
  if (fold.end !== null) return true;
  if (type === 'graph:cancel-requested') return fold.cancelRequested !== null;
  return 'signalId' in payload && fold.signals.has(payload.signalId);
}

/** A caller in plain JavaScript may leave out what the type demands. */
function checkReconciliation(given: Reconciliation): void {
  const { kind } = given;
  if (kind === 'failed') requireText('code', given.code);
  if (given.step !== undefined) requireText('step', given.step);
  const isKnown = kind === 'completed' || kind === 'failed' || kind === 'retry';
  const hasResult = kind !== 'completed' || given.result !== undefined;
  if (isKnown && hasResult) return;
  throw new GraphExecutionError(
    'INVALID_OPTION',
    isKnown
      ? 'A reconciliation as completed needs a result; null is one.'
      : `kind must be completed, failed or retry, not ${String(kind)}.`,
    { option: isKnown ? 'result' : 'kind' },
  );
}

function requireText(what: string, value: unknown): void {
  const fault = textFault(value);
  if (fault === null) return;
  throw new GraphExecutionError('INVALID_OPTION', `${what}: ${fault}.`, { option: what });
}
