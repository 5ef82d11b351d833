/**
 * A process that writes to a file memory; run by `processes.test.ts`.
 *
 * `write DIRECTORY NAME`: rewrites one file and makes new ones for ever; says each that is done.
 * `race DIRECTORY NAME`: waits for a line, then creates the files 0 … 39, and says which it made.
 */
import { writeSync } from 'node:fs';
import { createFileMemory } from '../../src/index.ts';

const [, , mode, directory = '', name = ''] = process.argv;
const memory = createFileMemory({ scope: 'tests', directory });

function say(text: string): void {
  writeSync(1, `${text}\n`);
}

async function write(): Promise<void> {
  const path = '/memories/shared';
  await memory.execute({ command: 'create', path, file_text: `${'0'.repeat(20_000)}\n` });
  for (let round = 1; ; round += 1) {
    const view = await memory.execute({ command: 'view', path });
    const old_str = view.ok ? String(Reflect.get(view.value as object, 'text')) : '';
    const new_str = `${String(round % 10).repeat(20_000)}\n`;
    await memory.execute({ command: 'str_replace', path, old_str, new_str });
    const made = `/memories/${name}/${round}`;
    const file_text = `${round}\n`.repeat(2_000);
    const { ok } = await memory.execute({ command: 'create', path: made, file_text });
    if (ok) say(String(round));
  }
}

async function race(): Promise<void> {
  await memory.execute({ command: 'view', path: '/memories' });
  say('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  for (let place = 0; place < 40; place += 1) {
    const path = `/memories/place-${place}/file`;
    const result = await memory.execute({ command: 'create', path, file_text: name });
    if (result.ok) say(`won ${place}`);
    else if (result.error.code !== 'ALREADY_EXISTS') say(`failed ${JSON.stringify(result.error)}`);
  }
  process.stdin.destroy();
}

await (mode === 'race' ? race() : write());
