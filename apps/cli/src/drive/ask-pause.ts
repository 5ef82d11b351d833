/** Asks a person about an open pause and hands the answer to the executor. */
import type { GraphExecutor, JsonValue, PauseView, Reconciliation } from 'holdfast';
import { isHoldfastError } from 'holdfast';
import { parseJson } from '../flow-file/read-json.ts';
import { printableLines } from '../render/printable.ts';
import type { Prompter } from './prompter.ts';

export interface PauseQuestion {
  readonly pause: PauseView;
  readonly executor: Pick<GraphExecutor, 'answer' | 'reconcile'>;
  readonly prompter: Prompter;
  readonly by: string;
  readonly signal: AbortSignal;
}

/** Kinds of pause that a person at the terminal is asked about. */
export const askedKinds: readonly string[] = ['approval', 'policy', 'reconcile-attempt'];

/** True when the pause was answered: here, or by somebody else in the meantime. */
export async function askPause(question: PauseQuestion): Promise<boolean> {
  try {
    return await askByKind(question);
  } catch (error) {
    if (isHoldfastError(error, 'PAUSE_MISMATCH')) return true;
    throw error;
  }
}

function askByKind(question: PauseQuestion): Promise<boolean> {
  switch (question.pause.request.kind) {
    case 'approval':
      return askApproval(question);
    case 'policy':
      return askPermission(question);
    case 'reconcile-attempt':
      return askReconciliation(question);
    default:
      return Promise.resolve(false);
  }
}

const LATER = { value: 'later', label: 'Later', hint: 'leave the run paused' } as const;

async function askApproval(question: PauseQuestion): Promise<boolean> {
  const { pause, executor, prompter, by, signal } = question;
  const { prompt } = pause.request;
  const text = typeof prompt === 'string' ? prompt : pause.reason;
  const said = await prompter.choose(
    printableLines(text).join('\n'),
    [{ value: 'yes', label: 'Approve' }, { value: 'no', label: 'Reject' }, LATER],
    signal,
  );
  if (said !== 'yes' && said !== 'no') return false;
  await executor.answer(pause.pauseId, said === 'yes', { by });
  return true;
}

async function askPermission(question: PauseQuestion): Promise<boolean> {
  const { pause, executor, prompter, by, signal } = question;
  const decision = await prompter.choose(
    `${pause.nodeId}: ${printableLines(pause.reason).join(' ')}`,
    [{ value: 'allow', label: 'Allow' }, { value: 'deny', label: 'Deny' }, LATER],
    signal,
  );
  if (decision !== 'allow' && decision !== 'deny') return false;
  await executor.answer(pause.pauseId, { decision }, { by });
  return true;
}

/** Asks about the attempt, or about each of its uncertain steps. */
async function askReconciliation(question: PauseQuestion): Promise<boolean> {
  const { steps } = question.pause.request;
  if (!Array.isArray(steps) || steps.length === 0) return reconcileOne(question, null);
  for (const step of steps) {
    if (!(await reconcileOne(question, String(step)))) return false;
  }
  return true;
}

async function reconcileOne(question: PauseQuestion, step: string | null): Promise<boolean> {
  const { pause, executor, prompter, signal } = question;
  const what = step === null ? pause.nodeId : `step ${step} of ${pause.nodeId}`;
  const kind = await prompter.choose(
    `The process died while ${what} ran. Did it happen?`,
    [
      { value: 'completed', label: 'It happened', hint: 'record its result; it is not run again' },
      { value: 'failed', label: 'It failed', hint: 'record a failure' },
      { value: 'retry', label: 'Run it again', hint: 'it did not happen, or may happen twice' },
      LATER,
    ],
    signal,
  );
  if (kind === null || kind === 'later') return false;
  const reconciliation = await askDetails(question, kind, step);
  if (reconciliation === null) return false;
  await executor.reconcile(pause.pauseId, reconciliation);
  return true;
}

async function askDetails(
  { prompter, by, signal }: PauseQuestion,
  kind: 'completed' | 'failed' | 'retry',
  step: string | null,
): Promise<Reconciliation | null> {
  const reason = await prompter.write('How do you know?', notBlank, signal);
  if (reason === null) return null;
  const said = { by, reason, ...(step === null ? {} : { step }) };
  if (kind === 'retry') return { kind, ...said };
  if (kind === 'failed') {
    const code = await prompter.write('A code for the failure', notBlank, signal);
    return code === null ? null : { kind, code, ...said };
  }
  const text = await prompter.write('Its output, as JSON (null if it has none)', jsonFault, signal);
  if (text === null) return null;
  const output = parseJson(text, 'The output');
  return { kind, result: step === null ? nodeResult(output) : output, ...said };
}

/** What a node of a flow returns when its output is this. */
export function nodeResult(output: JsonValue): JsonValue {
  return { output };
}

function notBlank(answer: string): string | null {
  return answer.trim() === '' ? 'Say something: it is recorded.' : null;
}

function jsonFault(answer: string): string | null {
  try {
    parseJson(answer, 'The output');
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'This is not JSON.';
  }
}
