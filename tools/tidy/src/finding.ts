/** What a rule reports: where, which rule, what is wrong and how to mend it. */

export type RuleName =
  | 'import-table'
  | 'import-cycle'
  | 'file-length'
  | 'function-length'
  | 'parameter-count'
  | 'line-length'
  | 'banned-call'
  | 'mutable-module'
  | 'file-name'
  | 'default-export'
  | 'star-export'
  | 'any'
  | 'non-null'
  | 'ts-comment'
  | 'machine-name'
  | 'stale-exception';

export interface Finding {
  readonly rule: RuleName;
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** What an exception would name: a function, a call, a file name. */
  readonly subject: string;
  readonly message: string;
  readonly mend: string;
}

/** `file:line rule message`, and on the next line how to mend it. */
export function findingText(finding: Finding): string {
  const { path, line, rule, message, mend } = finding;
  return `${path}:${line} ${rule}: ${message}\n    mend: ${mend}`;
}
