/** The last line of `npm test` for each way in which a run can end. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../test-report.mjs', import.meta.url));
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'holdfast-report-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Report {
  readonly passed?: number;
  readonly failed?: number;
  readonly success?: boolean;
  readonly files?: readonly { status: string; name: string; assertionResults: object[] }[];
}

function lastLine(report: Report | null, exitCode: number): readonly [string, number | null] {
  const file = path.join(folder, report === null ? 'none.json' : 'report.json');
  if (report !== null) {
    const { passed = 0, failed = 0, success = true, files = [] } = report;
    const json = {
      numPassedTests: passed,
      numFailedTests: failed,
      numPendingTests: 1,
      numTodoTests: 1,
      success,
      testResults: files,
    };
    writeFileSync(file, JSON.stringify(json));
  }
  const { stdout, status } = spawnSync(process.execPath, [script, file, String(exitCode)], {
    encoding: 'utf8',
  });
  return [stdout.trimEnd().split('\n').at(-1) ?? '', status];
}

it('counts a run in which all passed', () => {
  expect(lastLine({ passed: 5 }, 0)).toEqual(['5 passed, 0 failed', 0]);
});

it('counts failed tests once', () => {
  const files = [{ status: 'failed', name: 'a', assertionResults: [{ status: 'failed' }] }];
  const report = { passed: 5, failed: 1, success: false, files };
  expect(lastLine(report, 1)).toEqual(['5 passed, 1 failed', 1]);
});

it('counts a file that could not be loaded as one failure', () => {
  const files = [{ status: 'failed', name: 'a', assertionResults: [] }];
  const report = { passed: 5, success: false, files };
  expect(lastLine(report, 1)).toEqual(['5 passed, 1 failed', 1]);
});

it('counts an error outside of any test as one failure', () => {
  expect(lastLine({ passed: 5 }, 1)).toEqual(['5 passed, 1 failed', 1]);
});

it('fails a run without any test, and one without a report', () => {
  expect(lastLine({}, 0)).toEqual(['0 passed, 1 failed', 1]);
  expect(lastLine(null, 0)).toEqual(['0 passed, 1 failed', 1]);
});
