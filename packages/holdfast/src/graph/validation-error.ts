/** The refusal of the graph room: every problem of one value at once, each with its place. */
import { type ErrorCode, errorCodes } from '../base/error-codes.ts';
import { HoldfastError } from '../base/errors.ts';
import { JsonValueError } from '../base/json.ts';
import { truncateText } from '../base/text.ts';

/** One problem. `path` is a JSON pointer into the value that was checked ('' is the root). */
export interface GraphIssue {
  readonly code: string;
  readonly path: string;
  readonly message: string;
}

const ISSUES_SHOWN = 5;
const ISSUE_LENGTH = 300;

/**
 * Thrown when a definition, description, plan, event or decision breaks the contract of seed 003.
 *
 * `issues` names every problem found; `code` is the first issue's code where the closed table
 * knows it (a graph type may use codes of its own), else `INVALID_DEFINITION`.
 *
 * @example throw new GraphValidationError('Invalid vote definition.', [
 *   { code: 'INVALID_QUORUM', path: '/data/quorum', message: 'the quorum must be at least 1' },
 * ]);
 */
export class GraphValidationError extends HoldfastError {
  readonly issues: readonly GraphIssue[];

  constructor(what: string, issues: readonly GraphIssue[]) {
    super(codeOf(issues), describeIssues(what, issues), { issues });
    this.name = 'GraphValidationError';
    this.issues = Object.freeze(issues.map((issue) => Object.freeze({ ...issue })));
  }
}

/** The issue that stands for a value which is not JSON; anything else that was thrown goes on. */
export function jsonIssue(error: unknown, path: string, code = 'INVALID_JSON_VALUE'): GraphIssue {
  if (!(error instanceof JsonValueError)) throw error;
  return { code, path: `${path}${error.path}`, message: error.message };
}

function codeOf(issues: readonly GraphIssue[]): ErrorCode {
  const first = issues[0]?.code;
  const known = first !== undefined && Object.hasOwn(errorCodes, first);
  return known ? (first as ErrorCode) : 'INVALID_DEFINITION';
}

function describeIssues(what: string, issues: readonly GraphIssue[]): string {
  const shown = issues
    .slice(0, ISSUES_SHOWN)
    .map(({ code, path, message }) =>
      truncateText(`${path === '' ? '<root>' : path}: ${message} (${code})`, ISSUE_LENGTH),
    );
  const rest = issues.length - shown.length;
  return [what, ...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n- ');
}
