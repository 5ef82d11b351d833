/**
 * An engine for tests and examples: a function answers in place of a model.
 *
 * Invariants: it keeps the port's contract (the engine kit holds it against it) unless its
 * responder or `admit` breaks it on purpose; it reads no clock and no network.
 */

import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import { type EngineSelectionRecord, engineSelection } from '../base/engine-identity.ts';
import type { JsonValue } from '../base/json.ts';
import { requireFunction, requireObject } from '../base/option.ts';
import type { UsageReceipt } from '../base/usage.ts';
import type {
  AgentPart,
  AgentRequest,
  AgentResult,
  Engine,
  EngineEvent,
  EngineListener,
} from './engine.ts';
import { EngineError } from './engine-error.ts';

/** What a responder knows of the call beside its request. */
export interface MockCall {
  readonly signal: AbortSignal;
  /** Tells an event of the call; it does nothing once the call has ended. */
  readonly onEvent: EngineListener;
  /** How many calls came before this one. */
  readonly index: number;
}

/** An answer in full; what is absent is filled in. */
export interface MockReply {
  /** Said before a structured value, or the answer itself. */
  readonly text?: string;
  readonly structured?: JsonValue;
  /** In place of `text` and `structured`, exactly as given. */
  readonly parts?: readonly AgentPart[];
  /** 10 input and 5 output tokens by default. */
  readonly usage?: UsageReceipt;
  /** The model that is reported; the request's by default, else the selection's, else `mock`. */
  readonly model?: string;
  /** The identity that is reported, in place of one made of `model` and the selection. */
  readonly effective?: GraphEngineIdentity | null;
  readonly stopReason?: string;
}

/** Answers a call, at once or later. What it throws, the engine throws. */
export type MockResponder = (
  request: AgentRequest,
  call: MockCall,
) => string | MockReply | Promise<string | MockReply>;

/** A request without its prompt, as static checks have it. */
export type AdmissionRequest = Omit<AgentRequest, 'prompt'>;

/** Stands in for `Engine.admit`. */
export type MockAdmission = (
  request: AdmissionRequest,
  signal: AbortSignal,
  expected?: EngineSelectionRecord,
) => EngineSelectionRecord | Promise<EngineSelectionRecord>;

export interface MockEngineOptions {
  /** The identity that it runs under; adapter `mock` and nothing else by default. */
  readonly selection?: Partial<EngineSelectionRecord>;
  /** `selection` (the default) admits every request; `unsupported` leaves `admit` out. */
  readonly admit?: 'selection' | 'unsupported' | MockAdmission;
}

/** What a plan says of a target. */
export interface MockTarget {
  readonly adapter: string;
  readonly provider: string;
  readonly modelFamily: string;
  readonly model: string;
}

const DEFAULT_USAGE: UsageReceipt = Object.freeze({
  kind: 'reported',
  inputTokens: 10,
  outputTokens: 5,
});

/**
 * An engine that answers by `responder`, or with the prompt itself.
 *
 * It tells each text as one event, then the usage as one. While a responder's promise is open it
 * observes the signal: it rejects with `EngineError` `aborted`.
 *
 * @example const engine = new MockEngine((request) => `You said: ${request.prompt}`)
 */
export class MockEngine implements Engine {
  readonly name: string = 'mock';
  /** Absent, not undefined, when it is unsupported. */
  declare readonly admit?: NonNullable<Engine['admit']>;
  readonly #responder: MockResponder;
  readonly #selection: EngineSelectionRecord;
  readonly #calls: AgentRequest[] = [];
  readonly #admissions: AdmissionRequest[] = [];

  constructor(responder: MockResponder = echo, options: MockEngineOptions = {}) {
    requireFunction('responder', responder);
    requireObject('options', options);
    const { admit = 'selection', selection } = options;
    this.#responder = responder;
    this.#selection = engineSelection({ adapter: 'mock', ...selection });
    if (admit === 'unsupported') return;
    const answer: MockAdmission = admit === 'selection' ? (request) => this.#asked(request) : admit;
    this.admit = (request, signal, expected) => this.#admit(answer, [request, signal, expected]);
  }

  /**
   * An engine for a target of a plan.
   *
   * @example MockEngine.forTarget(lane.requested, () => 'ready')
   */
  static forTarget(
    target: MockTarget,
    responder: MockResponder = echo,
    options: MockEngineOptions = {},
  ): MockEngine {
    const { adapter, provider, modelFamily, model } = target;
    const selection = { adapter, provider, modelFamily, model, ...options.selection };
    return new MockEngine(responder, { ...options, selection });
  }

  /** The requests of all calls so far, oldest first; checks before a run have a `purpose`. */
  get calls(): readonly AgentRequest[] {
    return this.#calls;
  }

  /** The requests of all static checks so far, oldest first. */
  get admissions(): readonly AdmissionRequest[] {
    return this.#admissions;
  }

  async run(
    request: AgentRequest,
    onEvent: EngineListener,
    signal: AbortSignal,
  ): Promise<AgentResult> {
    requireNotAborted(signal);
    const index = this.#calls.push(Object.freeze({ ...request })) - 1;
    let isOpen = true;
    const tell = (event: EngineEvent): void => {
      if (isOpen) onEvent(event);
    };
    try {
      const call = Object.freeze({ signal, onEvent: tell, index });
      const reply = await unlessAborted(signal, () => this.#responder(request, call));
      return this.#result(request, typeof reply === 'string' ? { text: reply } : reply, tell);
    } finally {
      isOpen = false;
    }
  }

  async #admit(
    answer: MockAdmission,
    [request, signal, expected]: Parameters<NonNullable<Engine['admit']>>,
  ): Promise<EngineSelectionRecord> {
    requireNotAborted(signal);
    this.#admissions.push(Object.freeze({ ...request }));
    return unlessAborted(signal, () => answer(request, signal, expected));
  }

  /** The identity that a request asks for. */
  #asked({ model, tools }: AdmissionRequest): EngineSelectionRecord {
    const selection = this.#selection;
    return engineSelection({
      ...selection,
      model: model ?? selection.model,
      capabilities: tools ?? [],
    });
  }

  #result(request: AgentRequest, reply: MockReply, tell: EngineListener): AgentResult {
    const requested = this.#asked(request);
    const { usage = DEFAULT_USAGE, stopReason, model = requested.model ?? 'mock' } = reply;
    const parts = reply.parts ?? partsOf(reply);
    const { adapter, provider, modelFamily } = requested;
    const { effective = { adapter, provider, modelFamily, model } } = reply;
    for (const part of parts) {
      if (part.kind === 'assistant') tell({ kind: 'text', text: part.text });
    }
    tell({ kind: 'usage', usage, model });
    const stop = stopReason === undefined ? {} : { stopReason };
    return { parts, usage, requested, effective, ...stop };
  }
}

function echo(request: AgentRequest): string {
  return request.prompt;
}

function partsOf({ text, structured }: MockReply): readonly AgentPart[] {
  if (structured === undefined) return [{ kind: 'assistant', text: text ?? '', final: true }];
  const value: AgentPart = { kind: 'structured', value: structured, final: true };
  return text === undefined ? [value] : [{ kind: 'assistant', text, final: false }, value];
}

function aborted(signal: AbortSignal): EngineError {
  const cause: unknown = signal.reason;
  return new EngineError({ kind: 'aborted', message: 'The call was aborted.', cause });
}

function requireNotAborted(signal: AbortSignal): void {
  if (signal.aborted) throw aborted(signal);
}

/** What `work` comes to, or `aborted` as soon as the signal says so. */
async function unlessAborted<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  let stop = (): void => {};
  const abort = new Promise<never>((_, reject) => {
    stop = () => reject(aborted(signal));
    signal.addEventListener('abort', stop, { once: true });
  });
  // A responder may abort its own call and throw: then nobody waits for this promise.
  abort.catch(() => {});
  try {
    return await Promise.race([work(), abort]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
