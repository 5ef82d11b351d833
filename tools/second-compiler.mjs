/**
 * Compiles the same sources with TypeScript 7, as a second opinion.
 *
 * It works on a copy below `.ci-out`, so that the first compiler's output and its build records
 * stay as they are. The copy borrows every installed package except the workspaces themselves.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { root, runCommand } from './workspace.mjs';

const copy = path.join(root, '.ci-out', 'second-compiler');
const leftOut = new Set([
  'node_modules',
  'dist',
  '.git',
  '.ci',
  '.ci-out',
  '.holdfast',
  '.snippets',
]);

/** Copies the sources; folders that are installed, built or written by runs stay behind. */
function copySources() {
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const name of readdirSync(root)) {
    if (leftOut.has(name)) continue;
    cpSync(path.join(root, name), path.join(copy, name), { recursive: true, filter: isSource });
  }
}

function isSource(file) {
  return !leftOut.has(path.basename(file)) && !file.endsWith('.tsbuildinfo');
}

/** Links `from/*` into `to`, and this workspace's own packages to their copies. */
function linkModules(from, to) {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name.startsWith('.')) continue;
    if (name === '@holdfast') continue;
    symlinkSync(path.join(from, name), path.join(to, name));
  }
}

copySources();
const { workspaces } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
for (const folder of ['.', ...workspaces]) {
  const from = path.join(root, folder, 'node_modules');
  if (existsSync(from)) linkModules(from, path.join(copy, folder, 'node_modules'));
}
const own = path.join(copy, 'node_modules', 'holdfast');
rmSync(own, { force: true });
symlinkSync(path.join(copy, 'packages', 'holdfast'), own);

const tsc = path.join(root, 'node_modules', 'typescript7', 'bin', 'tsc');
process.exitCode = await runCommand(process.execPath, [tsc, '-b', '--force'], { cwd: copy });
