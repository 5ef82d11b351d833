/**
 * `npm run simulate -- --seeds 10000 --from 1`: simulates that many seeds and names those that
 * break an invariant. `--seed 7` simulates one and prints its options, its trace and its verdict.
 * `--form lanes` (or dag, script, flow) makes every run one of that form.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { prepare, root, stop } from './workspace.mjs';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    form: { type: 'string' },
  },
});
const count = whole('--seeds', values.seeds);
const from = whole('--from', values.from);
const changes = values.form === undefined ? {} : { form: formOf(values.form) };

await prepare('packages/holdfast');
const door = path.join(root, 'packages', 'holdfast', 'dist', 'testing.js');
const { simulateSeed } = await import(pathToFileURL(door).href);

if (values.seed === undefined) await simulateMany();
else await simulateOne(whole('--seed', values.seed));

async function simulateOne(seed) {
  const report = await simulateSeed(seed, changes);
  console.log(report.trace.join('\n'));
  console.log(`\noptions ${JSON.stringify(report.options)}`);
  console.log(report.violations.length === 0 ? 'no violation' : report.violations.join('\n'));
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}

async function simulateMany() {
  const started = performance.now();
  const failed = [];
  for (let seed = from; seed < from + count; seed += 1) {
    const { violations, options } = await simulateSeed(seed, changes);
    if (violations.length > 0) {
      failed.push(seed);
      console.log(`seed ${seed}: ${violations[0]}\n  options ${JSON.stringify(options)}`);
    }
    if ((seed - from + 1) % 1000 === 0) process.stderr.write(`${seed - from + 1} seeds\n`);
  }
  const seconds = (performance.now() - started) / 1000;
  const speed = `${seconds.toFixed(1)} s, ${(count / seconds).toFixed(0)} seeds a second`;
  console.log(`${count - failed.length} passed, ${failed.length} failed (${speed})`);
  const form = values.form === undefined ? '' : ` --form ${values.form}`;
  if (failed.length > 0)
    console.log(`See one with: npm run simulate -- --seed ${failed[0]}${form}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

function formOf(form) {
  if (['dag', 'script', 'flow', 'lanes'].includes(form)) return form;
  return stop(`--form ${form} is no form of a simulated run.`, 'Give dag, script, flow or lanes.');
}

function whole(option, text) {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  return stop(`${option} ${text} is no whole number from 1.`, `Give one, such as ${option} 100.`);
}
