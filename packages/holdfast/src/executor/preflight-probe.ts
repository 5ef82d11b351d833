/**
 * Makes one check: asks an engine whether it would admit a seat, or calls it once. It records
 * nothing; what it finds becomes the end of the probe.
 *
 * Invariants: a live check has no tools and no workspace; only the identity that was prepared
 * counts; usage counts whatever the call came to, and what nobody reported is unknown.
 */
import { engineRequest, given } from '../attempt/engine-request.ts';
import type { EngineSeat } from '../attempt/engine-work.ts';
import type { EngineFailureKind } from '../base/engine-failure.ts';
import type { EngineSelectionRecord, GraphEngineIdentity } from '../base/engine-identity.ts';
import { errorText } from '../base/errors.ts';
import { UNKNOWN_USAGE, type UsageReceipt } from '../base/usage.ts';
import { finalPart, readAgentResult, readUsage } from '../engine/agent-result.ts';
import type { AgentAttempt, AgentRequest, AgentResult, EngineEvent } from '../engine/engine.ts';
import { classifyEngineFailure } from '../engine/engine-error.ts';
import { type Reported, reportedByAnswer, reportedByError } from '../engine/reported.ts';
import type { LiveOutcome, ProbeCutShort, StaticOutcome } from '../history/preflight-payload.ts';
import type { LiveStep, StaticStep } from '../run/preflight/preflight-step.ts';
import type { ExecutorSettings } from './options.ts';
import { readAdmission } from './preflight-admission.ts';
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

/** What a check has come to; `why` says in words what was wrong, null when nothing was. */
export interface Checked<Outcome> {
  readonly outcome: Outcome;
  readonly why: string | null;
}

/** What a check that failed has shown. */
interface Failure extends Reported {
  readonly failure: EngineFailureKind;
  readonly text: string;
}

type Failed = Extract<StaticOutcome, { readonly kind: 'failed' }>;

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
  async checkStatic(probe: BegunProbe<StaticStep>): Promise<Checked<StaticOutcome>> {
    const { seat, step, timeoutMs, stop, probeEventId } = probe;
    const { engine } = seat;
    if (typeof engine.admit !== 'function') return { outcome: { kind: 'unsupported' }, why: null };
    const request = this.#staticRequest(probe);
    const end = await heldCall(
      async (signal) => engine.admit?.(request, signal, step.expected ?? undefined),
      { clock: this.#settings.clock, timeoutMs, graceMs: 0, stop },
    );
    if (end.kind === 'stopped') return { outcome: { kind: 'interrupted' }, why: null };
    const found = end.kind === 'answered' ? this.#admitted(end.answer, step) : failureOf(end);
    if (!('failure' in found))
      return { outcome: { kind: 'admitted', selection: found }, why: null };
    return recorded(found.text, () => this.#failed(probeEventId, found));
  }

  /** Throws what is no failure of an engine or a store. */
  async checkLive(probe: BegunProbe<LiveStep>): Promise<Checked<LiveOutcome>> {
    const { seat, step, timeoutMs, stop, probeEventId } = probe;
    const identity = step.identity ?? { ...seat.selection, capabilities: [] };
    const request = this.#liveRequest(probe, identity);
    const heard = new HeardUsage();
    const end = await heldCall(
      async (signal) => seat.engine.run(request, (event) => heard.take(event), signal),
      { clock: this.#settings.clock, timeoutMs, graceMs: LIVE_GRACE_MS, stop },
    );
    const told = heard.close();
    if (end.kind === 'stopped') {
      return { outcome: { usage: told, reported: null, kind: 'interrupted' }, why: null };
    }
    const answer = end.kind === 'answered' ? answerOf(end.answer, identity) : failureOf(end);
    if (!('failure' in answer)) return this.#answered(probeEventId, answer, told);
    const { usage, text } = answer;
    const known = { usage: usage ?? told, reported: this.#guard.harmless(answer.effective) };
    const { outcome, why } = await recorded(text, () => this.#failed(probeEventId, answer));
    return outcome.kind === 'failed'
      ? { outcome: { ...outcome, ...known, evidence: null }, why }
      : { outcome: { ...outcome, ...known }, why };
  }

  async #answered(
    probeEventId: string,
    result: AgentResult,
    told: UsageReceipt,
  ): Promise<Checked<LiveOutcome>> {
    // What it told while it worked counts where its answer says nothing.
    const usage = result.usage.kind === 'unknown' ? told : result.usage;
    const known = { usage, reported: this.#guard.harmless(result.effective) };
    const wrong = answerFault(result);
    const { outcome, why } = await recorded(wrong, async () => {
      const evidence = await this.#evidence.answer(probeEventId, result);
      if (wrong === null) return { kind: 'succeeded', evidence } as const;
      return { ...(await this.#failed(probeEventId, mismatch(null, wrong))), evidence };
    });
    return { outcome: { ...outcome, ...known }, why };
  }

  async #failed(probeEventId: string, { failure, effective, text }: Failure): Promise<Failed> {
    const diagnostic = await this.#evidence.diagnostic(probeEventId, text);
    const reported = this.#guard.harmless(effective);
    return { kind: 'failed', failure, reported, diagnostic };
  }

  #admitted(answer: unknown, step: StaticStep): EngineSelectionRecord | Failure {
    const admission = readAdmission(answer, step);
    if (admission.kind === 'refused') return mismatch(admission.reported, admission.text);
    const { selection } = admission;
    return this.#guard.holdsSecret(selection)
      ? mismatch(null, 'The identity that the engine names holds a known secret.')
      : selection;
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

/** What `work` stores, with `why`; or that it could not be stored, and why not. */
async function recorded<Outcome>(
  why: string | null,
  work: () => Promise<Outcome>,
): Promise<Checked<Outcome | ProbeCutShort>> {
  try {
    return { outcome: await work(), why };
  } catch (error) {
    const storageCode = storageCodeOf(error);
    if (storageCode === null) throw error;
    return { outcome: { kind: 'recording-failed', storageCode }, why: errorText(error) };
  }
}

function attemptOf(runId: string, probeEventId: string, label: string): AgentAttempt {
  return { runId, attemptId: probeEventId, leafId: probeEventId, path: NO_TOOLS, label };
}

function mismatch(effective: GraphEngineIdentity | null, text: string): Failure {
  return { failure: 'unknown', effective, usage: null, text };
}

/** A malformed answer may still say who gave it and what that took. */
function answerOf(returned: unknown, identity: EngineSelectionRecord): AgentResult | Failure {
  try {
    return readAgentResult(returned, identity);
  } catch (error) {
    return { failure: 'unknown', text: errorText(error), ...reportedByAnswer(returned) };
  }
}

/** Why an answer is no words, or null. */
function answerFault(result: AgentResult): string | null {
  const said = finalPart(result);
  if (said.kind !== 'assistant') return 'The engine answered with a value instead of text.';
  return said.text.trim() === '' ? 'The engine answered without any text.' : null;
}

/** What a call that did not answer says of its engine. */
function failureOf(end: Exclude<CallEnd<unknown>, { readonly kind: 'answered' }>): Failure {
  if (end.kind !== 'failed') {
    const text = 'The engine did not answer in its time.';
    return { failure: 'timeout', effective: null, usage: null, text };
  }
  const { error } = end;
  const text = error instanceof Error ? errorText(error) : `It threw ${errorText(error)}.`;
  return { failure: classifyEngineFailure(error), text, ...reportedByError(error) };
}
