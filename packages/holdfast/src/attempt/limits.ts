/** The byte limits of an attempt. */
import { HoldfastError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { PositionRecord } from '../run/position-record.ts';
import type { WorkspaceLimits } from '../workspace/guarded-effect.ts';
import { jsonBytes } from './fitting-text.ts';

/** Sizes in bytes; null = not limited. */
export interface AttemptLimits {
  /** The JSON text of the input, and the prompt. */
  readonly inputBytes: number | null;
  /** The JSON text of a function's result, or all parts of an engine's answer. */
  readonly outputBytes: number | null;
  /** Changes to the workspace. */
  readonly filesChanged: number | null;
  readonly linesChanged: number | null;
}

export const NO_LIMITS: AttemptLimits = Object.freeze({
  inputBytes: null,
  outputBytes: null,
  filesChanged: null,
  linesChanged: null,
});

/** Throws `INPUT_LIMIT` when the input, and `more` bytes beside it, are over the limit. */
export function requireInputWithin(
  { inputBytes }: AttemptLimits,
  record: PositionRecord,
  more = 0,
): void {
  if (inputBytes === null) return;
  const bytes = jsonBytes(record.input) + more;
  if (bytes <= inputBytes) return;
  throw new HoldfastError(
    'INPUT_LIMIT',
    `The input of ${record.nodeId} has ${bytes} bytes; ${inputBytes} are allowed.`,
    { nodeId: record.nodeId, bytes, limit: inputBytes },
  );
}

/** The limits of changes as an inspection takes them. */
export function changeLimits({ filesChanged, linesChanged }: AttemptLimits): WorkspaceLimits {
  return {
    ...(filesChanged === null ? {} : { filesChanged }),
    ...(linesChanged === null ? {} : { linesChanged }),
  };
}

/** Why a result is over the limit; null when it is not. */
export function outputFault(
  { outputBytes }: AttemptLimits,
  nodeId: string,
  result: JsonValue,
): string | null {
  if (outputBytes === null) return null;
  const bytes = jsonBytes(result);
  return bytes <= outputBytes
    ? null
    : `The result of ${nodeId} has ${bytes} bytes; ${outputBytes} are allowed.`;
}
