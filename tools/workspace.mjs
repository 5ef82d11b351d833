/**
 * What `npm start` and `npm test` share: bring a fresh clone to a built workspace.
 *
 * Plain JavaScript without any dependency, because it runs before anything is installed.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of the workspace. */
export const root = fileURLToPath(new URL('..', import.meta.url));

const minimumNode = [20, 19];
const lockFile = path.join(root, 'package-lock.json');
const installedLock = path.join(root, 'node_modules', '.package-lock.json');
const marker = path.join(root, 'node_modules', '.holdfast-installed');

/** Ends the process with one line that says what is wrong and one that says what to do. */
export function stop(what, next) {
  process.stderr.write(`\n${what}\n  ${next}\n`);
  process.exit(1);
}

/**
 * Installs (if needed) and builds; ends the process with advice when either fails. `project` is
 * the TypeScript project to build with all it rests on; without it, everything is built.
 */
export async function prepare(project = '.') {
  refuseOldNode();
  await install();
  await repairNativeDriver();
  await build(project);
}

/**
 * Builds `project` and runs its `script` (both from the root folder) in the caller's folder; its
 * exit code becomes that of this process.
 */
export async function runBuilt(project, script, args) {
  await prepare(project);
  process.exitCode = await runCommand(process.execPath, [path.join(root, script), ...args], {
    cwd: process.env.INIT_CWD ?? process.cwd(),
  });
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [wantedMajor, wantedMinor] = minimumNode;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  stop(
    `Holdfast needs Node ${minimumNode.join('.')} or later; this is ${process.version}.`,
    'Install a current Node (https://nodejs.org) and run the same command again.',
  );
}

/** True when `node_modules` was installed from exactly this lock file. */
function isInstalled(digest) {
  if (!existsSync(installedLock)) return false;
  if (existsSync(marker)) return readFileSync(marker, 'utf8') === digest;
  return statSync(installedLock).mtimeMs >= statSync(lockFile).mtimeMs;
}

async function install() {
  const digest = createHash('sha256').update(readFileSync(lockFile)).digest('hex');
  if (!isInstalled(digest)) {
    say('Installing dependencies (npm ci) ...');
    const code = await runCommand(npm(), [
      'ci',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ]);
    if (code !== 0) {
      stop('The dependencies could not be installed.', 'Check the network, then run `npm ci`.');
    }
  }
  writeFileSync(marker, digest);
}

/**
 * Node 22.13 and later bring SQLite along, so nothing native is built there. Before that the
 * optional `better-sqlite3` is needed. Its binary fits one Node version only: after a change of
 * Node it is built again.
 */
async function repairNativeDriver() {
  if (isBuiltin('node:sqlite') || nativeDriverOpens()) return;
  say('Building better-sqlite3 for this Node, once (about a minute) ...');
  await runCommand(npm(), ['rebuild', 'better-sqlite3', '--loglevel=error']);
  if (nativeDriverOpens()) return;
  say('better-sqlite3 does not load, so nothing can be stored on disk with this Node.');
  say('Use Node 22.13 or later, or install g++, make and python3 and delete node_modules.');
}

function nativeDriverOpens() {
  try {
    const Database = createRequire(lockFile)('better-sqlite3');
    new Database(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

async function build(project) {
  const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const started = performance.now();
  const code = await runCommand(process.execPath, [tsc, '-b', project]);
  if (code !== 0) {
    stop(
      'The build failed: the errors above name file and line.',
      'Mend them and run the same command again; `npx tsc -b --clean` starts from nothing.',
    );
  }
  const seconds = (performance.now() - started) / 1000;
  if (seconds > 1.5) say(`Built in ${seconds.toFixed(1)} s.`);
}

function npm() {
  return process.platform === 'win32' ? 'npm.cmd' : 'npm';
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * Runs a command in the root folder with this terminal; resolves with its exit code. Ctrl-C
 * reaches the child by the terminal, so this process only waits; SIGTERM is passed on.
 */
export function runCommand(command, args, options = {}) {
  const child = spawn(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: command.endsWith('.cmd'),
    ...options,
  });
  const wait = () => {};
  const passOn = () => child.kill('SIGTERM');
  process.on('SIGINT', wait);
  process.on('SIGTERM', passOn);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('SIGINT', wait);
      process.off('SIGTERM', passOn);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}
