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
import type { JsonObject, JsonValue } from '../base/json.ts';

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
 * @example waitNode({ kind: 'approval', prompt: 'Ship it?', deadlineMs: 3 * 24 * 3_600_000 })
 */
export function waitNode(options: WaitNodeOptions): NodeBinding {
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
  const { prompt } = options;
  return { kind: 'approval', prompt: typeof prompt === 'function' ? prompt(input) : prompt };
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
