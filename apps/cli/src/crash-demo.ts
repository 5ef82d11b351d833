/** `npm run demo:crash`: see docs/command-line.md. Options: --seed N, --repo PATH, --kills N. */
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { crashDemo } from './demo/crash-demo.ts';
import { exitCodes } from './exit-code.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    repo: { type: 'string', default: '.' },
    kills: { type: 'string', default: '30' },
  },
});

const completed = await crashDemo({
  seed: Number(values.seed),
  repository: path.resolve(values.repo),
  script: fileURLToPath(new URL('./main.js', import.meta.url)),
  maxKills: Number(values.kills),
  print: (line) => void process.stdout.write(`${line}\n`),
});
process.exitCode = completed ? exitCodes.complete : exitCodes.failed;
