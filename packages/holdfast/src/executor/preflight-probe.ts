/**
 * Makes one check: asks an engine whether it would admit a seat, or calls it once. It records
 * nothing; what it finds becomes the end of the probe.
 *
 * Invariants: a live check has no tools and no workspace; only the identity that was prepared
 * counts; usage counts whatever the call came to, and what nobody reported is unknown.
 */
import { engineRequest, given } from '../attempt/engine-request.ts';
import type { EngineSeat } from '../attempt/engine-work.ts';
import { canonicalText } from '../base/digest.ts';
import type { EngineFailureKind } from '../base/engine-failure.ts';
import {
  type EngineSelectionRecord,
  engineIdentity,
  type GraphEngineIdentity,
} from '../base/engine-identity.ts';
import { errorText } from '../base/errors.ts';
import { cloneFrozenJson, type JsonValue } from '../base/json.ts';
import { UNKNOWN_USAGE, type UsageReceipt } from '../base/usage.ts';
import {
  finalPart,
  readAgentResult,
  readReportedIdentity,
  readUsage,
} from '../engine/agent-result.ts';
import type { AgentAttempt, AgentRequest, AgentResult, EngineEvent } from '../engine/engine.ts';
import { classifyEngineFailure, isEngineError } from '../engine/engine-error.ts';
import {
  type LiveOutcome,
  type ProbeCutShort,
  type StaticOutcome,
  selectionRecord,
} from '../history/preflight-payload.ts';
import { isSeatedAt } from '../run/preflight/preflight-plan.ts';
import type { LiveStep, StaticStep } from '../run/preflight/preflight-step.ts';
import type { ExecutorSettings } from './options.ts';
import { type CallEnd, heldCall } from './preflight-call.ts';
import { PreflightEvidence, storageCodeOf } from './preflight-evidence.ts';
import { SecretGuard } from './secret-guard.ts';

/** What a seat must answer to: any words do. */
const PROMPT = 'This checks that you can be reached. Reply with one word: ready';
const MAX_TOKENS = 16;

/** How long a called engine may take to stop. One that admits nothing holds nothing. */
const LIVE_GRACE_MS = 5_000;

/** A check that has begun. */
export interface BegunProbe<Step extends StaticStep | LiveStep> {
  readonly probeEventId: string;
  readonly step: Step;
  readonly seat: EngineSeat;
  /** Bounds the check, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborted when the run stops. */
  readonly stop: AbortSignal;
}

/** What a check that failed has shown. */
interface Failure {
  readonly failure: EngineFailureKind;
  readonly reported: GraphEngineIdentity | null;
  readonly text: string;
}

interface LiveFailure extends Failure {
  readonly usage?: UsageReceipt;
}

const NO_TOOLS: readonly string[] = Object.freeze([]);

export class PreflightProbe {
  readonly #settings: ExecutorSettings;
  readonly #guard: SecretGuard;
  readonly #evidence: PreflightEvidence;

  constructor(settings: ExecutorSettings) {
    const { storage, stream } = settings;
    this.#settings = settings;
    this.#guard = new SecretGuard(storage.knownSecrets);
    this.#evidence = new PreflightEvidence(storage, stream, this.#guard);
  }

  /** Throws what is no failure of an engine or a store. */
  async checkStatic(probe: BegunProbe<StaticStep>): Promise<StaticOutcome> {
    const { seat, step, timeoutMs, stop, probeEventId } = probe;
    const { engine } = seat;
    if (typeof engine.admit !== 'function') return { kind: 'unsupported' };
    const request = this.#staticRequest(probe);
    const end = await heldCall(
      async (signal) => engine.admit?.(request, signal, step.expected ?? undefined),
      { clock: this.#settings.clock, timeoutMs, graceMs: 0, stop },
    );
    if (end.kind === 'stopped') return { kind: 'interrupted' };
    const found = end.kind === 'answered' ? this.#admitted(end.answer, step) : failureOf(end);
    return 'failure' in found
      ? recorded(() => this.#failed(probeEventId, found))
      : { kind: 'admitted', selection: found };
  }

  /** Throws what is no failure of an engine or a store. */
  async checkLive(probe: BegunProbe<LiveStep>): Promise<LiveOutcome> {
    const { seat, step, timeoutMs, stop, probeEventId } = probe;
    const identity = step.identity ?? { ...seat.selection, capabilities: [] };
    const request = this.#liveRequest(probe, identity);
    const heard = new HeardUsage();
    const end = await heldCall(
      async (signal) => seat.engine.run(request, (event) => heard.take(event), signal),
      { clock: this.#settings.clock, timeoutMs, graceMs: LIVE_GRACE_MS, stop },
    );
    const usage = heard.close();
    if (end.kind === 'stopped') return { usage, reported: null, kind: 'interrupted' };
    const answer = end.kind === 'answered' ? answerOf(end.answer, identity) : failureOf(end);
    if (!('failure' in answer)) return this.#answered(probeEventId, answer);
    const known = { usage: answer.usage ?? usage, reported: this.#guard.harmless(answer.reported) };
    const failed = await recorded(() => this.#failed(probeEventId, answer));
    return failed.kind === 'failed'
      ? { ...failed, ...known, evidence: null }
      : { ...failed, ...known };
  }

  async #answered(probeEventId: string, result: AgentResult): Promise<LiveOutcome> {
    const known = { usage: result.usage, reported: this.#guard.harmless(result.effective) };
    const said = finalPart(result);
    const hasAnswered = said.kind === 'assistant' && said.text.trim() !== '';
    const outcome = await recorded(async () => {
      const evidence = await this.#evidence.answer(probeEventId, result);
      if (hasAnswered) return { kind: 'succeeded', evidence } as const;
      const failure = {
        failure: 'unknown',
        reported: null,
        text: 'No text was answered.',
      } as const;
      return { ...(await this.#failed(probeEventId, failure)), evidence };
    });
    return { ...outcome, ...known };
  }

  async #failed(probeEventId: string, { failure, reported, text }: Failure) {
    const diagnostic = await this.#evidence.diagnostic(probeEventId, text);
    const harmless = this.#guard.harmless(reported);
    return { kind: 'failed', failure, reported: harmless, diagnostic } as const;
  }

  #admitted(answer: unknown, { target, expected }: StaticStep): EngineSelectionRecord | Failure {
    const selection = selectionOf(answer);
    if (selection === null || this.#guard.holdsSecret(selection)) {
      return mismatch(null, 'The engine names no identity that can be read.');
    }
    const reported = engineIdentity(selection);
    const shown = JSON.stringify(selection);
    if (!isSeatedAt(selection, target)) {
      return mismatch(reported, `The engine would run as ${shown}, which is not the target.`);
    }
    if (expected === null || isSame(selection, expected)) return selection;
    const saved = JSON.stringify(expected);
    return mismatch(reported, `The engine would run as ${shown}; it was admitted as ${saved}.`);
  }

  /** What the node will ask, but for its prompt. */
  #staticRequest(probe: BegunProbe<StaticStep>): Omit<AgentRequest, 'prompt'> {
    const { seat, step, timeoutMs, probeEventId } = probe;
    const { stream, bindings, preflightScratchDirectory: cwd } = this.#settings;
    const { contextNodeId, laneId } = step;
    const binding = contextNodeId === null ? undefined : bindings.get(contextNodeId);
    const label = contextNodeId ?? laneId;
    const attempt = attemptOf(stream.streamId, probeEventId, label);
    if (binding?.engine) {
      const { engine: work } = binding;
      const call = { seat, binding, work, timeoutMs: binding.timeoutMs, attempt };
      return Object.freeze({ ...given('cwd', cwd), ...engineRequest(call) });
    }
    const { capabilities: tools, model } = seat.selection;
    return Object.freeze({
      tools,
      timeoutMs,
      attempt,
      ...given('model', model),
      ...given('cwd', cwd),
    });
  }

  #liveRequest(
    { timeoutMs, probeEventId, step }: BegunProbe<LiveStep>,
    { model }: EngineSelectionRecord,
  ): AgentRequest {
    const { stream, preflightScratchDirectory: cwd } = this.#settings;
    return Object.freeze({
      prompt: PROMPT,
      purpose: 'preflight',
      tools: NO_TOOLS,
      allowedTools: NO_TOOLS,
      workspaceMode: 'none',
      maxTokens: MAX_TOKENS,
      timeoutMs,
      timeoutGraceMs: LIVE_GRACE_MS,
      attempt: attemptOf(stream.streamId, probeEventId, step.laneId),
      ...given('model', model),
      ...given('cwd', cwd),
    });
  }
}

/** What a call has told of its usage while it was open. */
class HeardUsage {
  #usage: UsageReceipt = UNKNOWN_USAGE;
  #isOpen = true;

  /** An engine may tell anything; only a receipt that can be read counts. */
  take(event: EngineEvent): void {
    try {
      if (this.#isOpen && event.kind === 'usage') this.#usage = readUsage(event.usage);
    } catch {
      // A malformed receipt says nothing.
    }
  }

  close(): UsageReceipt {
    this.#isOpen = false;
    return this.#usage;
  }
}

/** What `work` stores, or that it could not be stored. */
async function recorded<Outcome>(work: () => Promise<Outcome>): Promise<Outcome | ProbeCutShort> {
  try {
    return await work();
  } catch (error) {
    const storageCode = storageCodeOf(error);
    if (storageCode === null) throw error;
    return { kind: 'recording-failed', storageCode };
  }
}

function attemptOf(runId: string, probeEventId: string, label: string): AgentAttempt {
  return { runId, attemptId: probeEventId, leafId: probeEventId, path: NO_TOOLS, label };
}

function mismatch(reported: GraphEngineIdentity | null, text: string): Failure {
  return { failure: 'unknown', reported, text };
}

function answerOf(returned: unknown, identity: EngineSelectionRecord): AgentResult | LiveFailure {
  try {
    return readAgentResult(returned, identity);
  } catch (error) {
    return mismatch(null, errorText(error));
  }
}

/** What a call that did not answer says of its engine. */
function failureOf(end: Exclude<CallEnd<unknown>, { readonly kind: 'answered' }>): LiveFailure {
  if (end.kind !== 'failed') {
    return { failure: 'timeout', reported: null, text: 'The engine did not answer in its time.' };
  }
  const { error } = end;
  const failure = classifyEngineFailure(error);
  const text = errorText(error);
  if (!isEngineError(error)) return { failure, reported: null, text };
  return { failure, text, ...reportedBy(error) };
}

/** A foreign error may say anything of who failed and what was used. */
function reportedBy(error: unknown): Pick<LiveFailure, 'reported' | 'usage'> {
  try {
    const { effective, usage } = error as { readonly effective: unknown; readonly usage: unknown };
    const reported = readReportedIdentity(effective);
    return usage === null || usage === undefined
      ? { reported }
      : { reported, usage: readUsage(usage) };
  } catch {
    return { reported: null };
  }
}

function selectionOf(answer: unknown): EngineSelectionRecord | null {
  try {
    const value = cloneFrozenJson(answer);
    return selectionRecord(value) === null ? (value as unknown as EngineSelectionRecord) : null;
  } catch {
    return null;
  }
}

function isSame(a: EngineSelectionRecord, b: EngineSelectionRecord): boolean {
  return canonicalText(a as unknown as JsonValue) === canonicalText(b as unknown as JsonValue);
}
