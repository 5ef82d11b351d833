/**
 * Compiles and runs the examples against the library as it would be published: packed, unpacked
 * into a folder of its own, and typed by both compilers. Prints what the programs print.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root, stop } from './workspace.mjs';

const examples = path.join(root, 'examples', 'packages');
const programs = ['custom-graph', 'turn-taking'];
const compilers = { 6: 'typescript', 7: 'typescript7' };

/** Runs a command; ends the process when it fails. Gives what it printed. */
function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) stop(`${command} ${args.join(' ')} failed.`, error?.message ?? stderr + stdout);
  return stdout;
}

/** Unpacks the library into `app`, with the installed packages that it depends on. */
function installPacked(app) {
  const library = path.join(root, 'packages', 'holdfast');
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', '--json', '--pack-destination', app], library),
  );
  run('tar', ['-xzf', filename], app);
  const modules = path.join(app, 'node_modules');
  mkdirSync(path.join(modules, '@types'), { recursive: true });
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(path.join(app, 'package', 'package.json'), 'utf8'),
  );
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, '@types/node': '' })) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    symlinkSync(path.join(root, 'node_modules', name), path.join(modules, name));
  }
  symlinkSync(path.join(app, 'package'), path.join(modules, 'holdfast'));
}

function writeProject(app) {
  const source = path.join(app, 'source');
  mkdirSync(source);
  for (const name of readdirSync(examples)) {
    copyFileSync(path.join(examples, name), path.join(source, name));
  }
  const base = JSON.parse(readFileSync(path.join(root, 'tsconfig.base.json'), 'utf8'));
  const compilerOptions = {
    ...base.compilerOptions,
    composite: false,
    incremental: false,
    rootDir: 'source',
    types: ['node'],
  };
  writeFileSync(path.join(app, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(
    path.join(app, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['source'] }),
  );
}

const app = mkdtempSync(path.join(tmpdir(), 'holdfast-packed-'));
try {
  installPacked(app);
  writeProject(app);
  for (const [version, name] of Object.entries(compilers)) {
    const out = `out${version}`;
    const tsc = path.join(root, 'node_modules', name, 'bin', 'tsc');
    run(process.execPath, [tsc, '-p', '.', '--outDir', out], app);
    process.stdout.write(`TypeScript ${version}\n`);
    for (const program of programs) {
      process.stdout.write(run(process.execPath, [path.join(out, `${program}.js`)], app));
    }
  }
} finally {
  rmSync(app, { recursive: true, force: true });
}
