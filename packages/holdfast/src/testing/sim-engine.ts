/**
 * An engine of a simulation: it does what its seat's plan says, in one process.
 *
 * Invariant: it notes of each call what it has told and how it has ended at the moment when it
 * does so, since that is what a receipt may say.
 */

import { isEngineFailureKind } from '../base/engine-failure.ts';
import {
  type EngineSelectionRecord,
  engineIdentity,
  engineSelection,
} from '../base/engine-identity.ts';
import { UNKNOWN_USAGE, type UsageReceipt } from '../base/usage.ts';
import type {
  AgentPart,
  AgentRequest,
  AgentResult,
  Engine,
  EngineListener,
} from '../engine/engine.ts';
import { EngineError, type EngineErrorOptions } from '../engine/engine-error.ts';
import type { SimCall } from './sim-call.ts';
import type { AskedCall } from './sim-calls.ts';
import type { EngineAct, SeatPlan } from './sim-lane-plan.ts';
import type { SimProcess } from './sim-process.ts';
import {
  LINE_PIECES,
  SECRET_LINES,
  SECRET_PIECES,
  SIMULATED_SECRET,
  secretForm,
  textWithLines,
} from './sim-secret.ts';

/** What is told after the end of a call begins so: nobody may hear it. */
export const TOO_LATE = 'too late';

/** They never come to an end. */
const SILENT_ACTS: readonly EngineAct[] = [
  'never answers',
  'tells its usage only',
  'tells as it goes, then hangs',
];

/** What an engine needs of the simulation around it. */
export interface EngineHost {
  readonly process: SimProcess;
  /** Notes a call. */
  readonly called: (asked: Omit<AskedCall, 'process'>) => SimCall;
  /** Notes a question; gives its place among all of the seat, from 0. */
  readonly asked: (seat: SeatPlan) => number;
  readonly acts: (act: EngineAct) => void;
  readonly mayDie: (place: string) => void;
  /** The world's own time: it goes on when the process does not. */
  readonly sleep: (ms: number) => Promise<void>;
  /** The length of a text that no event holds. */
  readonly largeLength: number;
}

/** The engine behind a seat. */
export function simulatedEngine(seat: SeatPlan, host: EngineHost): Engine {
  const name = `engine of ${seat.target.model}`;
  const run: Engine['run'] = (...call) => new EngineRun(seat, host, call).begin();
  if (seat.admissions === null) return { name, run };
  return { name, run, admit: () => admit(seat, host) };
}

async function admit(seat: SeatPlan, host: EngineHost): Promise<EngineSelectionRecord> {
  const acts = seat.admissions ?? [];
  const act = acts[Math.min(host.asked(seat), acts.length - 1)] ?? 'admits';
  host.mayDie(`an admission of ${seat.target.model}`);
  if (act === 'never says') return new Promise(() => undefined);
  if (act === 'admits another') return engineSelection({ ...seat.target, model: 'another' });
  if (act !== 'admits') {
    throw new EngineError({ kind: act, message: `${SIMULATED_SECRET} says: ${act}.` });
  }
  return engineSelection({ ...seat.target, capabilities: seat.target.tools });
}

/** One call. */
class EngineRun {
  readonly #seat: SeatPlan;
  readonly #host: EngineHost;
  readonly #request: AgentRequest;
  readonly #onEvent: EngineListener;
  readonly #signal: AbortSignal;
  readonly #call: SimCall;
  readonly #act: EngineAct;

  constructor(
    seat: SeatPlan,
    host: EngineHost,
    [request, onEvent, signal]: Parameters<Engine['run']>,
  ) {
    this.#seat = seat;
    this.#host = host;
    this.#request = request;
    this.#onEvent = onEvent;
    this.#signal = signal;
    this.#call = host.called({ seat, request, signal });
    this.#act = seat.acts[Math.min(this.#call.index, seat.acts.length - 1)] ?? 'answers';
    host.acts(this.#act);
  }

  begin(): Promise<AgentResult> {
    if (this.#act === 'throws at once') throw this.#untyped(new Error('It cannot even begin.'));
    if (this.#act === 'answers twice') return this.#twice();
    return this.#work();
  }

  get #place(): string {
    return `call ${this.#call.index} of ${this.#seat.target.model}`;
  }

  async #work(): Promise<AgentResult> {
    this.#host.mayDie(`${this.#place}, which begins`);
    if (this.#act === 'tells its usage only') this.#tellUsage();
    if (this.#act === 'leaks in pieces') this.#tell(SECRET_PIECES[0]);
    if (this.#act === 'leaks lines in pieces') this.#tell(LINE_PIECES[0]);
    if (this.#act.startsWith('tells as it goes')) await this.#tellMore();
    if (SILENT_ACTS.includes(this.#act)) return new Promise(() => undefined);
    if (this.#act === 'outlives its process') await this.#host.sleep(this.#seat.workMs + 300);
    else await this.#worked();
    this.#host.mayDie(`${this.#place}, which ends`);
    return this.#end();
  }

  /** Takes its time; who is stubborn takes much more, and does not hear that it is told to stop. */
  #worked(): Promise<void> {
    const isStubborn = this.#act === 'answers late';
    const { workMs } = this.#seat;
    return new Promise((resolve, reject) => {
      const ms = isStubborn ? workMs + 62_000 : workMs;
      const timer = this.#host.process.clock.after(ms, resolve);
      if (isStubborn) return;
      const stop = () => {
        timer.cancel();
        reject(this.#stopped());
      };
      if (this.#signal.aborted) stop();
      else this.#signal.addEventListener('abort', stop, { once: true });
    });
  }

  /** What is told later counts in place of what was told before. */
  async #tellMore(): Promise<void> {
    this.#tellUsage(1);
    await this.#host.process.sleep(Math.max(1, this.#seat.workMs));
    this.#tellUsage(4);
  }

  #stopped(): unknown {
    if (this.#act !== 'gives the reason') return this.#failed({ kind: 'aborted' });
    this.#call.ended({ failure: 'aborted', usage: null, effective: null });
    return this.#signal.reason;
  }

  #end(): AgentResult {
    const act = this.#act;
    if (isEngineFailureKind(act)) throw this.#failed({ kind: act, usage: this.#usage(3) });
    switch (act) {
      case 'throws no error':
        throw this.#untyped(null);
      case 'throws an untyped error':
        throw this.#untyped(new Error('401 unauthorized: log in again'));
      case 'fails without usage':
        throw this.#failed({ kind: 'transient' });
      case 'tells usage, then fails':
        this.#tellUsage(2, true);
        throw this.#failed({ kind: 'rate-limit' });
      case 'leaks in its error':
        throw this.#leaking();
      case 'leaks lines in its error': {
        const message = textWithLines(this.#call.index);
        this.#call.ended({ failure: 'transient', usage: null, effective: null });
        throw new EngineError({ kind: 'transient', message });
      }
      case 'leaks lines in nonsense':
        return this.#malformed({ parts: `${SECRET_LINES} for ${this.#call.index}` });
      case 'overspends and is refused':
        throw this.#failed({ kind: 'auth', usage: this.#usage(60) });
      case 'overspends and fails':
        throw this.#failed({ kind: 'transient', usage: this.#usage(60) });
      case 'answers nonsense':
        return this.#malformed({ parts: 'many' });
      case 'answers as another':
        return this.#malformed({ requested: engineSelection({ adapter: 'another' }) });
      case 'answers with bad usage':
        return this.#malformed({ usage: { kind: 'reported', inputTokens: -1, outputTokens: 0 } });
      default:
        return this.#answer();
    }
  }

  #answer(): AgentResult {
    switch (this.#act) {
      case 'answers without usage':
        return this.#said('well', { usage: UNKNOWN_USAGE });
      case 'answers at length':
        return this.#said('x'.repeat(this.#host.largeLength));
      case 'answers with a value':
        // A check wants words.
        if (this.#request.purpose === 'preflight') return this.#said('ready');
        return this.#said({ value: this.#call.index });
      case 'leaks a secret':
        this.#tell(SIMULATED_SECRET);
        return this.#said(`The key is ${secretForm(this.#call.index)}.`);
      case 'leaks at length':
        return this.#said(SIMULATED_SECRET.padEnd(this.#host.largeLength, '.'));
      case 'leaks in pieces':
        this.#tell(SECRET_PIECES[1]);
        return this.#said('Nothing to see.');
      case 'leaks lines in pieces':
        this.#tell(LINE_PIECES[1]);
        return this.#said('Nothing to see.');
      case 'leaks lines':
        return this.#said(textWithLines(this.#call.index));
      case 'overspends':
        return this.#said('at length', { usage: this.#usage(60) });
      case 'tells as it goes':
        return this.#said('well', { usage: UNKNOWN_USAGE });
      case 'leaks its name': {
        const effective = { ...engineIdentity(this.#seat.target), model: SIMULATED_SECRET };
        return this.#said('well', { effective });
      }
      case 'tells nonsense':
        this.#tellNonsense();
        return this.#said('well');
      default: {
        const result = this.#said(`answer to ${this.#request.prompt}`);
        this.#goOn();
        return result;
      }
    }
  }

  /** Notes an answer that can be read, and gives it. */
  #said(
    said: string | { readonly value: number },
    differs: Partial<Pick<AgentResult, 'usage' | 'effective'>> = {},
  ): AgentResult {
    const result = { ...this.#result(said), ...differs };
    if (this.#act !== 'tells nonsense' && this.#act !== 'tells as it goes') {
      this.#tell(`${this.#place} is answered. `);
      this.#tellUsage(2, true);
    }
    const { usage, effective } = result;
    const isHidden = effective?.model === SIMULATED_SECRET;
    this.#call.ended({
      failure: null,
      usage: usage.kind === 'unknown' ? null : usage,
      effective: isHidden || effective === null ? null : engineIdentity(effective),
      answer: said,
    });
    return result;
  }

  #result(said: string | { readonly value: number }): AgentResult {
    const tools = this.#request.tools ?? this.#seat.target.tools;
    const requested = engineSelection({ ...this.#seat.target, capabilities: tools });
    const part: AgentPart =
      typeof said === 'string'
        ? { kind: 'assistant', text: said, final: true }
        : { kind: 'structured', value: said, final: true };
    return { parts: [part], usage: this.#usage(5), requested, effective: requested };
  }

  /** An answer that nobody can read: who gave it and what that took counts all the same. */
  #malformed(differs: object): AgentResult {
    if (this.#call.index % 2 === 1) this.#tellUsage(2, true);
    const usage = 'usage' in differs ? null : this.#usage(5);
    const effective = engineIdentity(this.#seat.target);
    this.#call.ended({ failure: 'unknown', usage, effective });
    return { ...this.#result('well'), ...differs } as AgentResult;
  }

  #failed({ kind, usage }: Pick<EngineErrorOptions, 'kind' | 'usage'>): EngineError {
    this.#call.ended({ failure: kind, usage: usage ?? null, effective: null });
    const known = usage === undefined ? {} : { usage };
    return new EngineError({ kind, message: `It fails as planned: ${kind}.`, ...known });
  }

  #leaking(): EngineError {
    const effective = { ...engineIdentity(this.#seat.target), model: SIMULATED_SECRET };
    this.#call.ended({ failure: 'quota', usage: null, effective: null });
    const message = `It refuses ${SIMULATED_SECRET}: ${secretForm(this.#call.index)}.`;
    return new EngineError({ kind: 'quota', message, effective });
  }

  #untyped<Thrown>(thrown: Thrown): Thrown {
    this.#call.ended({ failure: 'unknown', usage: null, effective: null });
    return thrown;
  }

  /** A promise that calls back more than once: plain JavaScript allows it. */
  #twice(): Promise<AgentResult> {
    const { clock } = this.#host.process;
    const { workMs } = this.#seat;
    const settle = (resolve: (result: AgentResult) => void, reject: (error: unknown) => void) => {
      resolve(this.#said('first'));
      resolve({ ...this.#result('second'), usage: this.#usage(700) });
      reject(new EngineError({ kind: 'auth', message: 'It has thought better of it.' }));
      clock.after(1, () => resolve(this.#result('third')));
    };
    return {
      // biome-ignore lint/suspicious/noThenProperty: that is what this engine does wrong
      then: (...callbacks: Parameters<typeof settle>) => {
        if (workMs === 0) settle(...callbacks);
        else clock.after(workMs, () => settle(...callbacks));
      },
    } as unknown as Promise<AgentResult>;
  }

  /** What it tells once it has answered counts for nothing. */
  #goOn(): void {
    this.#host.process.clock.after(1, () => {
      this.#onEvent({ kind: 'text', text: TOO_LATE });
      this.#onEvent({ kind: 'usage', usage: this.#usage(900) });
    });
  }

  #tell(text: string): void {
    this.#onEvent({ kind: 'text', text });
  }

  #tellUsage(inputTokens = 2, isLast = false): void {
    const usage = this.#usage(inputTokens);
    this.#call.told(usage, isLast);
    this.#onEvent({ kind: 'usage', usage });
  }

  #tellNonsense(): void {
    const nonsense = [null, 7, { kind: 'usage', usage: { kind: 'reported' } }, { kind: 'text' }];
    for (const event of nonsense) this.#onEvent(event as never);
  }

  #usage(inputTokens: number): UsageReceipt {
    return { kind: 'reported', inputTokens, outputTokens: this.#call.index + 1 };
  }
}
