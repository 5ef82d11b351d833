/** All rules over a set of sources, less the named exceptions. */
import { type Exception, exceptions as namedExceptions } from './exceptions.ts';
import type { Finding } from './finding.ts';
import { checkBannedCalls } from './rules/banned-call.ts';
import { checkBannedNames } from './rules/banned-name.ts';
import { checkImportCycles } from './rules/import-cycle.ts';
import { checkImportTable } from './rules/import-table.ts';
import { checkLengths } from './rules/length.ts';
import { checkMachineNames } from './rules/machine-name.ts';
import type { Source } from './source.ts';

const rules = [
  checkImportTable,
  checkImportCycles,
  checkLengths,
  checkBannedCalls,
  checkBannedNames,
  checkMachineNames,
];

/** Findings in the order of path and line; an exception that matches nothing is one as well. */
export function tidy(
  sources: readonly Source[],
  exceptions: readonly Exception[] = namedExceptions,
): readonly Finding[] {
  const all = rules.flatMap((rule) => rule(sources));
  const kept = all.filter((finding) => !exceptions.some((one) => excepts(one, finding)));
  const stale = exceptions
    .filter((one) => !all.some((finding) => excepts(one, finding)))
    .map(staleException);
  return [...kept, ...stale].sort(byPlace);
}

function excepts(exception: Exception, finding: Finding): boolean {
  if (exception.rule !== finding.rule || exception.path !== finding.path) return false;
  return exception.subject === undefined || exception.subject === finding.subject;
}

function staleException(exception: Exception): Finding {
  const subject = exception.subject ?? exception.path;
  return {
    rule: 'stale-exception',
    path: exception.path,
    line: 1,
    subject,
    message: `the exception from ${exception.rule} for ${subject} is no longer needed`,
    mend: 'take it out of tools/tidy/src/exceptions.ts.',
  };
}

function byPlace(left: Finding, right: Finding): number {
  if (left.path !== right.path) return left.path < right.path ? -1 : 1;
  return left.line - right.line;
}
