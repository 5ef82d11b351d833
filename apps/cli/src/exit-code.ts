/** Exit codes of the command line, documented in docs/command-line.md. */
import { isHoldfastError, type RunResult } from 'holdfast';

export const exitCodes = {
  /** The command did what it was asked; a run is complete. */
  complete: 0,
  /** The run failed or was cancelled, or a stored run does not verify. */
  failed: 1,
  /** The command, a file, a flow or an input is wrong; nothing was changed. */
  invalid: 2,
  /** The run is paused: it waits for a person, a signal or a deadline. */
  paused: 3,
  /** Another process drives the run, or took it over. */
  owned: 4,
  /** Stopped by Ctrl-C or a signal; the same command goes on. */
  stopped: 5,
  /** The store, the disk or git failed; nothing that was acknowledged is lost. */
  infrastructure: 6,
  /** A fault of Holdfast itself, or of node code that escaped. */
  fault: 7,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const codesByExit: readonly (readonly [ExitCode, readonly string[]])[] = [
  [exitCodes.owned, ['RUN_OWNED', 'OWNERSHIP_LOST', 'LEASE_LOST', 'STALE_FENCE']],
  [exitCodes.stopped, ['ABORTED']],
  [
    exitCodes.failed,
    ['DETERMINISM_VIOLATION', 'INVALID_EVENT', 'EMPTY_DECISION', 'DUPLICATE_POSITION'],
  ],
  [
    exitCodes.infrastructure,
    [
      'ARTIFACT_INTEGRITY',
      'ARTIFACT_NOT_FOUND',
      'COMPACTED',
      'CORRUPT_EVENT_STREAM',
      'GIT_FAILED',
      'INVALID_STORED_VALUE',
      'SEQUENCE_CONFLICT',
      'SQLITE_DRIVER_MISSING',
      'STORE_BUSY',
      'STORE_CORRUPT',
      'STORE_FULL',
      'STORE_IO',
      'STORE_POISONED',
      'STORE_READ_ONLY',
      'STORE_SCHEMA_UNSUPPORTED',
    ],
  ],
  [exitCodes.fault, ['ASSERTION']],
];

/** The exit code of something thrown. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (!isHoldfastError(error)) return exitCodes.fault;
  const known = codesByExit.find(([, codes]) => codes.includes(error.code));
  return known?.[0] ?? exitCodes.invalid;
}

/** The exit code of a run that came to rest. */
export function exitCodeOfResult(result: RunResult): ExitCode {
  switch (result.kind) {
    case 'complete':
      return exitCodes.complete;
    case 'fail':
      return exitCodes.failed;
    case 'pause':
      return exitCodes.paused;
    case 'waiting':
      return exitCodes.stopped;
  }
}
