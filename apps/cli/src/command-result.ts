/** What a command gives back: an exit code, a document for programs, a text for people. */
import type { ExitCode } from './exit-code.ts';

export interface CommandResult {
  readonly exitCode: ExitCode;
  /** The one document of `--json`. */
  readonly document: unknown;
  /** What is printed without `--json`, after all that was printed on the way. */
  readonly text: string;
}

/** Options that every command has. */
export interface CommonOptions {
  readonly directory: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}
