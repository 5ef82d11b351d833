/**
 * `npm test`: install if needed, build, run every test. The last line is `N passed, N failed`.
 * Arguments go to vitest: `npm test -- packages/holdfast/test/flow`.
 */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { printSummary, readReport } from './test-report.mjs';
import { prepare, root, runCommand } from './workspace.mjs';

await prepare();
const report = path.join(root, '.ci-out', 'vitest.json');
mkdirSync(path.dirname(report), { recursive: true });
rmSync(report, { force: true });
const exitCode = await runCommand(process.execPath, [
  path.join(root, 'node_modules', 'vitest', 'vitest.mjs'),
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
]);
process.exitCode = printSummary(readReport(report, exitCode)) ? 0 : 1;
