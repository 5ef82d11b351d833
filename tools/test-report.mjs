/**
 * Counts a JSON report of vitest. A file that could not be loaded counts as one failed test, and so
 * does a run that failed without naming a test; a run without any test has failed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** `{passed, failed, skipped, notes}` of the report at `file`; `exitCode` is the runner's. */
export function readReport(file, exitCode) {
  if (!existsSync(file)) {
    return { passed: 0, failed: 1, skipped: 0, notes: ['The test runner wrote no report.'] };
  }
  const report = JSON.parse(readFileSync(file, 'utf8'));
  const broken = report.testResults.filter(
    (result) => result.status === 'failed' && !hasFailedTest(result),
  );
  const notes = broken.map((result) => `Not loaded: ${result.name}`);
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  let failed = report.numFailedTests + broken.length;
  if (failed === 0 && (exitCode !== 0 || report.success === false)) {
    failed = 1;
    notes.push('The run failed outside of any test; the error stands above.');
  }
  if (failed === 0 && passed === 0) {
    failed = 1;
    notes.push('No test ran.');
  }
  return { passed, failed, skipped, notes };
}

function hasFailedTest(result) {
  return result.assertionResults.some((assertion) => assertion.status === 'failed');
}

/** Prints the notes, the skipped tests and, as the last line, the sum. True when all is well. */
export function printSummary({ passed, failed, skipped, notes }) {
  for (const note of notes) console.log(note);
  if (skipped > 0) console.log(`${skipped} skipped`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0;
}

const [, script, file, exitCode = '0'] = process.argv;
if (script !== undefined && import.meta.url === pathToFileURL(script).href) {
  const ok = printSummary(readReport(file, Number(exitCode)));
  process.exitCode = ok ? 0 : 1;
}
