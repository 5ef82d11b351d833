/**
 * What the cases of the engine kit work with: calls whose answer, events and request are checked.
 *
 * Time is the machine's: an engine under test talks to real processes and sockets.
 */
import { engineIdentity } from '../base/engine-identity.ts';
import { errorText } from '../base/errors.ts';
import { readAgentResult, readReportedIdentity, readUsage } from '../engine/agent-result.ts';
import type { AgentRequest, AgentResult, Engine, EngineEvent } from '../engine/engine.ts';
import { classifyEngineFailure } from '../engine/engine-error.ts';
import { createSystemClock } from '../store/system-clock.ts';
import { fail } from './conformance-report.ts';
import type { EngineConformanceFixture, ObservedCall, OpenedEngine } from './engine-fixture.ts';
import { expectSame, expectTrue, withinTime } from './expectation.ts';

/** How long an engine may take to settle after its signal was aborted. */
export const ABORT_LIMIT_MS = 3_000;
const CALL_LIMIT_MS = 20_000;
const POLL_MS = 5;
/** How long the kit listens for events of a call that has ended. */
const LISTEN_MS = 25;

/** A call that was answered, and what was told of it. */
export interface Answered {
  readonly result: AgentResult;
  readonly events: readonly EngineEvent[];
}

/** What a case changes of a call. */
export interface CallChanges {
  readonly request?: Partial<AgentRequest>;
  readonly signal?: AbortSignal;
  /** The capabilities of the identity asked for; the fixture's by default. */
  readonly capabilities?: readonly string[];
}

export class EngineBench {
  readonly fixture: EngineConformanceFixture;
  readonly #opened: OpenedEngine;
  readonly #clock = createSystemClock();

  constructor(fixture: EngineConformanceFixture, opened: OpenedEngine) {
    this.fixture = fixture;
    this.#opened = opened;
  }

  get engine(): Engine {
    return this.#opened.engine;
  }

  observed(): readonly ObservedCall[] {
    return this.#opened.observed();
  }

  /** Calls, and checks all that holds of every answered call. */
  async answered(changes: CallChanges = {}): Promise<Answered> {
    const events: EngineEvent[] = [];
    const returned = await this.#call(changes, events);
    const told = events.length;
    const { requested, effective } = this.fixture;
    const capabilities = changes.capabilities ?? requested.capabilities;
    const result = readAgentResult(returned, { ...requested, capabilities });
    const reported = result.effective === null ? null : engineIdentity(result.effective);
    expectSame('the identity reported', reported, effective);
    await this.#expectSilence(events, told);
    return { result, events };
  }

  /** Calls, and gives back what it was refused with, checked. */
  async failed(changes: CallChanges = {}): Promise<unknown> {
    const events: EngineEvent[] = [];
    let error: unknown;
    try {
      await this.#call(changes, events);
    } catch (thrown) {
      error = thrown;
    }
    if (error === undefined) return fail('it answered a call that cannot succeed');
    await this.#expectSilence(events, events.length);
    requireSoundError(error);
    return error;
  }

  /** Waits until `holds`; fails the case, naming `what`, when that takes too long. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const end = this.#clock.now() + CALL_LIMIT_MS;
    while (!holds()) {
      if (this.#clock.now() > end) fail(`${what} did not happen within ${CALL_LIMIT_MS} ms`);
      await this.pass(POLL_MS);
    }
  }

  pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }

  async close(): Promise<void> {
    await this.#opened.close?.();
  }

  async #call({ request, signal }: CallChanges, events: EngineEvent[]): Promise<unknown> {
    const given = structuredClone({ ...this.fixture.request, ...request });
    const before = structuredClone(given);
    // Kept apart: an engine may swallow what its listener throws.
    const faults: string[] = [];
    const listen = (event: EngineEvent): void => {
      const fault = eventFault(event);
      if (fault !== null) faults.push(fault);
      events.push(event);
    };
    try {
      const call = this.engine.run(given, listen, signal ?? new AbortController().signal);
      return await withinTime(Promise.resolve(call), CALL_LIMIT_MS);
    } finally {
      expectSame('the request after the call', given, before);
      expectSame('malformed events', faults, []);
    }
  }

  async #expectSilence(events: readonly EngineEvent[], told: number): Promise<void> {
    await this.pass(LISTEN_MS);
    // On a busy machine that timer may come before what was due long ago: this one cannot.
    await this.pass(0);
    const late = events.slice(told).map((event) => event.kind);
    expectSame('events told after the call had ended', late, []);
  }
}

/** What is wrong with an event, or null. */
function eventFault(event: EngineEvent): string | null {
  switch (event.kind) {
    case 'text':
    case 'thinking':
      return typeof event.text === 'string' ? null : `${event.kind} without text`;
    case 'tool':
      if (typeof event.name !== 'string' || event.name === '') return 'tool without a name';
      return event.phase === 'use' || event.phase === 'result' ? null : 'tool of no known phase';
    case 'usage':
      return faultOf(() => readUsage(event.usage));
    default:
      return `an event of no known kind: ${String((event as { readonly kind: unknown }).kind)}`;
  }
}

/** A failure that an engine names says nothing malformed of its identity and usage. */
function requireSoundError(error: unknown): void {
  if (classifyEngineFailure(error) === 'unknown') return;
  const { effective, usage, retryAfterMs } = error as Readonly<Record<string, unknown>>;
  if (effective !== null && effective !== undefined) {
    expectTrue('the identity of the error is malformed', readReportedIdentity(effective) !== null);
  }
  const fault = faultOf(() => readUsage(usage));
  if (fault !== null) fail(fault);
  if (retryAfterMs === null || retryAfterMs === undefined) return;
  const isDelay = typeof retryAfterMs === 'number' && retryAfterMs >= 0;
  expectTrue(`retryAfterMs is ${String(retryAfterMs)}`, isDelay);
}

function faultOf(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    return errorText(error);
  }
}
