/** One error as text and as a document: code, what, where, and what to do next. */
import { isHoldfastError } from 'holdfast';
import type { Colours } from '../colours.ts';
import { fitWidth, printable, printableLines } from './printable.ts';

/** One problem of many: a place and what is wrong there. */
export interface ShownIssue {
  readonly code: string;
  readonly path: string;
  readonly message: string;
}

export interface ErrorDocument {
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly issues?: readonly ShownIssue[];
  readonly details?: Readonly<Record<string, unknown>>;
}

const MESSAGE_COLUMNS = 2_000;
const FAULT_NEXT = 'Run it again with --verbose and report what it shows.';

/** What `--json` says of an error. */
export function errorDocument(error: unknown): ErrorDocument {
  if (!isHoldfastError(error)) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: 'UNEXPECTED', message: message.slice(0, MESSAGE_COLUMNS), next: FAULT_NEXT };
  }
  const issues = issuesOf(error);
  const { issues: _shown, ...details } = error.details;
  return {
    code: error.code,
    message: issues.length === 0 ? error.message : (error.message.split('\n')[0] ?? ''),
    next: 'next' in error ? String(error.next) : '',
    ...(issues.length === 0 ? {} : { issues }),
    ...(Object.keys(details).length === 0 ? {} : { details: plain(details) }),
  };
}

/** What a person sees of an error; the stack only when it was asked for. */
export function errorText(error: unknown, colours: Colours, verbose = false): string {
  const { code, message, next, issues = [] } = errorDocument(error);
  const [first = '', ...rest] = printableLines(message);
  const lines = [
    `${colours.red(code)}: ${fitWidth(first, MESSAGE_COLUMNS)}`,
    ...rest.map((line) => `  ${fitWidth(line, MESSAGE_COLUMNS)}`),
    ...issueLines(issues),
    ...(next === '' ? [] : [`${colours.cyan('Next')}: ${printable(next)}`]),
  ];
  if (verbose && error instanceof Error) lines.push(...stackLines(error));
  return `${lines.join('\n')}\n`;
}

/** One line an issue: place, what is wrong, code. */
export function issueLines(issues: readonly ShownIssue[]): readonly string[] {
  return issues.map(({ code, path, message }) => {
    const place = path === '' ? '<root>' : path;
    return `  ${printable(place)}: ${fitWidth(printable(message), 400)} (${code})`;
  });
}

function issuesOf(error: Error & { readonly details: object }): readonly ShownIssue[] {
  const issues = 'issues' in error ? error.issues : undefined;
  if (!Array.isArray(issues)) return [];
  return issues.map((issue: Partial<ShownIssue>) => ({
    code: String(issue.code ?? ''),
    path: String(issue.path ?? ''),
    message: String(issue.message ?? ''),
  }));
}

function stackLines(error: Error): readonly string[] {
  const own = (error.stack ?? '').split('\n').slice(1);
  const cause = error.cause instanceof Error ? ['Caused by:', ...stackOf(error.cause)] : [];
  return [...own, ...cause];
}

function stackOf(error: Error): readonly string[] {
  return (error.stack ?? error.message).split('\n');
}

/** Details may hold what JSON does not: they are shown, never relied on. */
function plain(details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return JSON.parse(
    JSON.stringify(details, (_key, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    ),
  ) as Readonly<Record<string, unknown>>;
}
