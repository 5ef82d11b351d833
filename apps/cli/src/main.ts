#!/usr/bin/env node
/** The `holdfast` command: see docs/command-line.md. */
import path from 'node:path';
import process from 'node:process';
import { runCli } from './cli.ts';
import { clackPrompter } from './drive/clack-prompter.ts';
import { systemTerminal } from './terminal.ts';

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
const terminal = systemTerminal(programName());
process.exitCode = await runCli(process.argv.slice(2), { terminal, prompter: clackPrompter });
