/** An engine of a simulation: it does what its seat's plan says, in one process. */
import { type EngineFailureKind, isEngineFailureKind } from '../base/engine-failure.ts';
import { type EngineSelectionRecord, engineSelection } from '../base/engine-identity.ts';
import { UNKNOWN_USAGE, type UsageReceipt } from '../base/usage.ts';
import type { AgentRequest, AgentResult, Engine, EngineListener } from '../engine/engine.ts';
import { EngineError } from '../engine/engine-error.ts';
import type { EngineAct, SeatPlan } from './sim-lanes.ts';
import type { SimProcess } from './sim-process.ts';

/** A text that no store may ever hold. */
export const SIMULATED_SECRET = 'sim-secret-4711';

/** What an engine needs of the simulation around it. */
export interface EngineHost {
  readonly process: SimProcess;
  /** Notes a call; gives its place among all calls of the seat, from 0. */
  readonly called: (seat: SeatPlan, request: AgentRequest, signal: AbortSignal) => number;
  /** Notes a question; gives its place among all of the seat, from 0. */
  readonly asked: (seat: SeatPlan) => number;
  /** Notes the usage that the engine claims for a call. */
  readonly said: (request: AgentRequest, usage: UsageReceipt) => void;
  readonly acts: (act: EngineAct) => void;
  readonly mayDie: (place: string) => void;
  /** The length of a text that no event holds. */
  readonly largeLength: number;
}

/** The engine behind a seat. */
export function simulatedEngine(seat: SeatPlan, host: EngineHost): Engine {
  const name = `engine of ${seat.target.model}`;
  const answers: Engine['run'] = (...call) => run(seat, host, call);
  if (seat.admissions === null) return { name, run: answers };
  return { name, run: answers, admit: () => admit(seat, host) };
}

async function admit(seat: SeatPlan, host: EngineHost): Promise<EngineSelectionRecord> {
  const acts = seat.admissions ?? [];
  const act = acts[Math.min(host.asked(seat), acts.length - 1)] ?? 'admits';
  host.mayDie(`an admission of ${seat.target.model}`);
  if (act === 'never says') return new Promise(() => undefined);
  if (act !== 'admits') throw new EngineError({ kind: act, message: `It says: ${act}.` });
  return engineSelection({ ...seat.target, capabilities: seat.target.tools });
}

async function run(
  seat: SeatPlan,
  host: EngineHost,
  [request, onEvent, signal]: Parameters<Engine['run']>,
): Promise<AgentResult> {
  const index = host.called(seat, request, signal);
  const act = seat.acts[Math.min(index, seat.acts.length - 1)] ?? 'answers';
  host.acts(act);
  const place = `call ${index} of ${seat.target.model}`;
  host.mayDie(`${place}, which begins`);
  if (act === 'never answers') return new Promise(() => undefined);
  await worked(host, { ms: seat.workMs, signal, isStubborn: act === 'answers late' });
  host.mayDie(`${place}, which ends`);
  if (isEngineFailureKind(act)) throw failure(act, request, host);
  return answer(act, { seat, request, onEvent, host, index });
}

interface Work {
  readonly ms: number;
  readonly signal: AbortSignal;
  readonly isStubborn: boolean;
}

/** Takes its time; who is stubborn takes much more, and does not hear that it is told to stop. */
function worked({ process }: EngineHost, { ms, signal, isStubborn }: Work): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = process.clock.after(isStubborn ? ms + 62_000 : ms, resolve);
    if (isStubborn) return;
    const stop = () => {
      timer.cancel();
      reject(new EngineError({ kind: 'aborted', message: 'It was told to stop.' }));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

function failure(kind: EngineFailureKind, request: AgentRequest, host: EngineHost): EngineError {
  const usage: UsageReceipt = { kind: 'reported', inputTokens: 3, outputTokens: 0 };
  host.said(request, usage);
  return new EngineError({ kind, message: `It fails as planned: ${kind}.`, usage });
}

interface Asked {
  readonly seat: SeatPlan;
  readonly request: AgentRequest;
  readonly onEvent: EngineListener;
  readonly host: EngineHost;
  readonly index: number;
}

function answer(act: EngineAct, asked: Asked): AgentResult | Promise<AgentResult> {
  const { host, request, onEvent } = asked;
  switch (act) {
    case 'throws no error':
      throw null;
    case 'throws an untyped error':
      throw new Error('401 unauthorized: log in again');
    case 'answers nonsense':
      return { parts: 'many' } as unknown as AgentResult;
    case 'answers as another':
      return { ...said('well', asked), requested: engineSelection({ adapter: 'another' }) };
    case 'answers without usage':
      return { ...said('well', asked), usage: UNKNOWN_USAGE };
    case 'answers at length':
      return said('x'.repeat(host.largeLength), asked);
    case 'leaks a secret':
      onEvent({ kind: 'text', text: SIMULATED_SECRET });
      return said(`The key is ${SIMULATED_SECRET}.`, asked);
    case 'answers twice':
      return twice(said('first', asked), said('second', asked));
    default: {
      const result = said(`answer to ${request.prompt}`, asked);
      // What it says once it has answered counts for nothing.
      host.process.clock.after(1, () => onEvent({ kind: 'text', text: 'too late' }));
      return result;
    }
  }
}

function said(text: string, { seat, request, host, index, onEvent }: Asked): AgentResult {
  const usage: UsageReceipt = { kind: 'reported', inputTokens: 5, outputTokens: index + 1 };
  host.said(request, usage);
  onEvent({ kind: 'usage', usage });
  const requested: EngineSelectionRecord = engineSelection({
    ...seat.target,
    capabilities: request.tools ?? seat.target.tools,
  });
  return {
    parts: [{ kind: 'assistant', text, final: true }],
    usage,
    requested,
    effective: requested,
  };
}

/** A promise that calls back twice: plain JavaScript allows it. */
function twice(first: AgentResult, second: AgentResult): Promise<AgentResult> {
  return {
    // biome-ignore lint/suspicious/noThenProperty: that is what this engine does wrong
    then(resolve: (result: AgentResult) => void) {
      resolve(first);
      resolve(second);
    },
  } as unknown as Promise<AgentResult>;
}
