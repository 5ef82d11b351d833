/** Nodes that wait: for a person's answer, or for a signal. They run no user code. */
import {
  type NodeBinding,
  nodeBinding,
  PauseAttempt,
  type PositionRecord,
  type WaitEndings,
} from '../attempt/binding.ts';
import { deadlineOf } from '../attempt/deadline.ts';
import type { AttemptOutcome } from '../attempt/outcome.ts';
import { textFault } from '../base/identifier.ts';
import { cloneFrozenJson, type JsonObject, type JsonValue } from '../base/json.ts';
import { refuseOption, requireObject } from '../base/option.ts';
import { LONGEST_DELAY_MS } from '../base/time.ts';

interface WaitBase {
  /** The wait ends by itself this long after its dispatch; never by default. */
  readonly deadlineMs?: number;
  /** What the deadline makes of the node; by default it fails with `DEADLINE_PASSED`. */
  readonly onDeadline?: { readonly result: JsonValue } | { readonly failWith: string };
}

/** What a node waits for, and for how long (in milliseconds). */
export type WaitNodeOptions = WaitBase &
  (
    | {
        readonly kind: 'approval';
        /** What the person is asked; a function sees the dispatch's input. */
        readonly prompt: string | ((input: JsonValue) => string);
      }
    | { readonly kind: 'signal'; readonly name: string }
  );

/**
 * A node that pauses at once. An approval is completed by `answer` with the answer as its result;
 * a signal wait by the oldest signal of its name, with the payload as its result, also if it came
 * before the wait.
 *
 * Throws `INVALID_OPTION`; a prompt function that gives no text fails its node with that code.
 *
 * @example waitNode({ kind: 'approval', prompt: 'Ship it?', deadlineMs: 3 * 24 * 3_600_000 })
 */
export function waitNode(options: WaitNodeOptions): NodeBinding {
  requireObject('options', options);
  checkOptions(options);
  return nodeBinding({
    retrySafe: true,
    run: (input, _context, record) => waitFor(requestOf(options, input), options, record),
    endings: endingsOf(options),
  });
}

/** The pause of a wait, with its deadline counted from the dispatch. */
export function waitFor(
  request: JsonObject & { readonly kind: string },
  { deadlineMs }: { readonly deadlineMs?: number },
  record: PositionRecord,
): PauseAttempt {
  const dueAt = deadlineMs === undefined ? {} : { dueAt: deadlineOf(record, deadlineMs) };
  const what = request.kind === 'signal' ? `signal ${String(request['name'])}` : request.kind;
  return new PauseAttempt(`${record.nodeId} waits for ${what}.`, { ...request, ...dueAt });
}

function requestOf(
  options: WaitNodeOptions,
  input: JsonValue,
): JsonObject & { readonly kind: string } {
  if (options.kind === 'signal') return { kind: 'signal', name: options.name };
  const prompt: unknown =
    typeof options.prompt === 'function' ? options.prompt(input) : options.prompt;
  if (typeof prompt !== 'string') refuseOption('what prompt returns', 'text', prompt);
  return { kind: 'approval', prompt };
}

function checkOptions(options: WaitNodeOptions): void {
  const { kind, deadlineMs, onDeadline } = options;
  if (kind === 'signal') {
    if (textFault(options.name) !== null) refuseOption('name', 'one line of text', options.name);
  } else if (kind !== 'approval') {
    refuseOption('kind', "'approval' or 'signal'", kind);
  } else if (typeof options.prompt !== 'string' && typeof options.prompt !== 'function') {
    refuseOption('prompt', 'text or a function', options.prompt);
  }
  if (deadlineMs !== undefined) requireDeadline(deadlineMs);
  if (onDeadline !== undefined && !isEnding(onDeadline)) {
    refuseOption('onDeadline', '{ result } of JSON or { failWith } of one line', onDeadline);
  }
}

function requireDeadline(deadlineMs: unknown): void {
  const isWhole = Number.isSafeInteger(deadlineMs) && Number(deadlineMs) >= 0;
  if (isWhole && Number(deadlineMs) <= LONGEST_DELAY_MS) return;
  const expected = `a whole number of milliseconds from 0 to ${LONGEST_DELAY_MS}`;
  refuseOption('deadlineMs', expected, deadlineMs);
}

function isEnding(given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return false;
  if (!('result' in given)) return 'failWith' in given && textFault(given.failWith) === null;
  try {
    cloneFrozenJson(given.result);
    return true;
  } catch {
    return false;
  }
}

function endingsOf({ onDeadline }: WaitNodeOptions): WaitEndings {
  if (onDeadline === undefined) return {};
  return { expired: (record) => expiredBy(onDeadline, record) };
}

function expiredBy(
  onDeadline: NonNullable<WaitBase['onDeadline']>,
  record: PositionRecord,
): AttemptOutcome {
  if ('result' in onDeadline) return { kind: 'completed', result: onDeadline.result };
  const message = `${record.nodeId} waited until ${record.dueAt} and nothing came.`;
  return { kind: 'failed', code: onDeadline.failWith, message, retryable: false };
}
