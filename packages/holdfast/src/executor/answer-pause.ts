/** A person or host ends an open pause: the answer and the outcome it stands for, in one append. */
import type { EndingsOf } from '../attempt/binding.ts';
import type { AttemptOutcome } from '../attempt/outcome.ts';
import { failed } from '../attempt/outcome.ts';
import type { ResultRule } from '../attempt/result-rule.ts';
import { isHoldfastError } from '../base/errors.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { millisecondsOf } from '../base/time.ts';
import type { OpenWait, PositionRecord } from '../run/position-record.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { RunFold } from '../run/run-fold.ts';
import { writeOutcome } from './record-outcome.ts';
import type { TurnBatch } from './turn-batch.ts';

export interface AnswerRequest {
  readonly pauseId: string;
  readonly answer: JsonValue;
  readonly by: string;
}

/** What an answer makes of a node, and whether that can be recorded. */
export interface AnswerRules {
  readonly endingsOf: EndingsOf;
  readonly fits: (result: JsonValue) => boolean;
  readonly resultOf: ResultRule;
}

/** Writes an answer. Throws `PAUSE_MISMATCH`, `ANSWER_INVALID`, `PROTOCOL`. */
export function writeAnswer(batch: TurnBatch, request: AnswerRequest, rules: AnswerRules): void {
  const wait = requireOpenPause(batch.machine.fold, request.pauseId);
  if (wait.pause.request.kind === 'reconcile-attempt') {
    throw new GraphExecutionError(
      'PROTOCOL',
      `Pause ${request.pauseId} asks about an uncertain attempt: use reconcile, not answer.`,
      { pauseId: request.pauseId },
    );
  }
  refuseOfChild(wait);
  refuseAfterDeadline(wait, batch.now);
  if (wait.pause.request.kind === 'policy') writePolicyAnswer(batch, request, wait);
  else writeWaitAnswer(batch, request, wait.record, rules);
}

/** The pause with this id if it is open. Throws `PAUSE_MISMATCH` naming it and the open ones. */
export function requireOpenPause(fold: RunFold, pauseId: string): OpenWait {
  const waits = fold.openWaits();
  const found = waits.find(({ pause }) => pause.pauseId === pauseId);
  if (found !== undefined) return found;
  const open = waits.map(({ pause }) => pause.pauseId);
  throw new GraphExecutionError(
    'PAUSE_MISMATCH',
    `Pause ${pauseId} of run ${fold.runId} is not open. ` +
      `Open now: ${open.length === 0 ? 'none' : open.slice(0, 10).join(', ')}.`,
    { pauseId, open },
  );
}

/** Only the child run itself ends the pause that its parent shares. */
export function refuseOfChild({ pause }: OpenWait): void {
  const { kind, runId } = pause.request;
  if (kind !== 'child') return;
  throw new GraphExecutionError(
    'PROTOCOL',
    `Pause ${pause.pauseId} lasts until run ${String(runId)} can go on: answer or reconcile a ` +
      'pause of that run, or resume the position.',
    { pauseId: pause.pauseId, runId },
  );
}

function refuseAfterDeadline({ record, pause }: OpenWait, now: number): void {
  if (record.dueAt === null || millisecondsOf(record.dueAt) > now) return;
  throw new GraphExecutionError(
    'PAUSE_MISMATCH',
    `Pause ${pause.pauseId} was open until ${record.dueAt}; the answer came after its deadline.`,
    { pauseId: pause.pauseId, dueAt: record.dueAt },
  );
}

function writeWaitAnswer(
  batch: TurnBatch,
  request: AnswerRequest,
  record: PositionRecord,
  rules: AnswerRules,
): void {
  const { answered } = rules.endingsOf(record.nodeId);
  const given: AttemptOutcome = answered?.(request.answer, record) ?? {
    kind: 'completed',
    result: request.answer,
  };
  const outcome = judged(given, record.nodeId, rules);
  if (outcome.kind === 'completed' && !rules.fits(outcome.result)) {
    throw new GraphExecutionError(
      'ANSWER_INVALID',
      `The answer gives ${record.nodeId} a result that is larger than an event holds.`,
      { pauseId: request.pauseId },
    );
  }
  writeAnswered(batch, request, record);
  writeOutcome(batch, record, outcome);
}

/** What the answer completes must be a result of its node. */
function judged(
  outcome: AttemptOutcome,
  nodeId: string,
  { resultOf }: AnswerRules,
): AttemptOutcome {
  if (outcome.kind !== 'completed') return outcome;
  try {
    return { kind: 'completed', result: resultOf(nodeId, outcome.result) };
  } catch (error) {
    if (!isHoldfastError(error, 'RESULT_INVALID')) throw error;
    throw new GraphExecutionError('ANSWER_INVALID', error.message, error.details, error);
  }
}

function writePolicyAnswer(batch: TurnBatch, request: AnswerRequest, { record }: OpenWait): void {
  const decision = isJsonObject(request.answer) ? request.answer['decision'] : undefined;
  if (decision !== 'allow' && decision !== 'deny') {
    throw new GraphExecutionError(
      'ANSWER_INVALID',
      `Pause ${request.pauseId} asks a policy question: answer {"decision": "allow"} or ` +
        '{"decision": "deny"}.',
      { pauseId: request.pauseId },
    );
  }
  writeAnswered(batch, request, record);
  if (decision === 'deny') {
    writeOutcome(batch, record, failed('DENIED', `Denied by ${request.by}.`, false));
  }
}

function writeAnswered(batch: TurnBatch, request: AnswerRequest, record: PositionRecord): void {
  const { pauseId, answer, by } = request;
  batch.write('graph:pause-answered', { pauseId, position: record.position, answer, by }, answer);
}
