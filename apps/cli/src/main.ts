#!/usr/bin/env node
/** The `holdfast` command: see docs/command-line.md. */
import path from 'node:path';
import process from 'node:process';
import { runCli } from './cli.ts';
import { clackPrompter } from './drive/clack-prompter.ts';
import { ProcessGuard } from './process-guard.ts';
import { systemColours, systemTerminal } from './terminal.ts';

/** How this program can be called again from the same folder. */
function programName(): string {
  const script = process.argv[1] ?? 'holdfast';
  if (path.basename(script) === 'holdfast') return 'holdfast';
  const near = path.relative(process.cwd(), script);
  return `node ${near.startsWith(path.join('..', '..', '..')) ? script : near}`;
}

/** Warnings of Node about its own experiments would be written across the live tree. */
function quietExperiments(): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    if (name !== 'ExperimentalWarning') process.stderr.write(`${name}: ${message}\n`);
  });
}

quietExperiments();
const args = process.argv.slice(2);
const guard = new ProcessGuard({
  json: args.includes('--json'),
  verbose: args.includes('--verbose'),
  colours: systemColours(),
});
const terminal = systemTerminal(programName(), guard);
// Not awaited: Node would report a module of node functions that never settles in its own way.
void runCli(args, { terminal, prompter: clackPrompter }).then((code) => guard.finish(code));
