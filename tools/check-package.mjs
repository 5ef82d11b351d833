/**
 * Checks the library as it would be published: packs it, then lets publint or are-the-types-wrong
 * look at the tarball. `node tools/check-package.mjs publint|attw`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { root, runCommand, stop } from './workspace.mjs';

const checks = {
  publint: (tarball) => ['publint/src/cli.js', 'run', tarball, '--strict'],
  attw: (tarball) => [
    '@arethetypeswrong/cli/dist/index.js',
    tarball,
    '--profile',
    'esm-only',
    '--format',
    'ascii',
  ],
};

const check = checks[process.argv[2]];
if (check === undefined) stop('Which check?', `Name one of: ${Object.keys(checks).join(', ')}.`);

const folder = path.join(root, '.ci-out', 'package');
mkdirSync(folder, { recursive: true });
const packed = spawnSync('npm', ['pack', '--json', '--pack-destination', folder], {
  cwd: path.join(root, 'packages', 'holdfast'),
  encoding: 'utf8',
});
if (packed.status !== 0) stop('npm pack failed.', packed.stderr.trim());
const [{ filename }] = JSON.parse(packed.stdout);
const [script, ...args] = check(path.join(folder, filename));
process.exitCode = await runCommand(process.execPath, [
  path.join(root, 'node_modules', script),
  ...args,
]);
