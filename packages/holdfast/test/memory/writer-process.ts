/**
 * A process that works on a file memory; run by `processes.test.ts`. Called with `MODE DIRECTORY
 * NAME`. All but `write` wait for a line before they begin, and say `failed …` where a command is
 * refused that should not be.
 *
 * `write`: rewrites one file and makes new ones for ever; says each that is done.
 * `race`: creates the files 0 … 39, and says which it made.
 * `insert`: inserts 25 lines of its own into one file, and says each that is acknowledged.
 * `mix`: inserts into a file that all keep moving, creates and deletes another, counts in a third;
 * says what is acknowledged.
 * `fill`: creates 10 files where there is room for 12 in all, and says which it made.
 */
import { writeSync } from 'node:fs';
import { createFileMemory, type MemoryCommand, type MemoryErrorCode } from '../../src/index.ts';

const [, , mode, directory = '', name = ''] = process.argv;
const limits = mode === 'fill' ? { maxFiles: 12 } : {};
const memory = createFileMemory({ scope: 'tests', directory, limits });

function say(text: string): void {
  writeSync(1, `${text}\n`);
}

/** Says `done` when the command is acknowledged, `failed` when it is refused for another reason. */
async function tell(
  done: string,
  command: MemoryCommand,
  ...mayBe: readonly MemoryErrorCode[]
): Promise<boolean> {
  const result = await memory.execute(command);
  if (result.ok) say(done);
  else if (!mayBe.includes(result.error.code)) say(`failed ${JSON.stringify(result.error)}`);
  return result.ok;
}

async function textAt(path: string): Promise<string> {
  const view = await memory.execute({ command: 'view', path });
  return view.ok ? String(Reflect.get(view.value as object, 'text')) : '';
}

async function write(): Promise<void> {
  const path = '/memories/shared';
  await memory.execute({ command: 'create', path, file_text: `${'0'.repeat(20_000)}\n` });
  for (let round = 1; ; round += 1) {
    const old_str = await textAt(path);
    const new_str = `${String(round % 10).repeat(20_000)}\n`;
    await memory.execute({ command: 'str_replace', path, old_str, new_str });
    const made = `/memories/${name}/${round}`;
    const file_text = `${round}\n`.repeat(2_000);
    const { ok } = await memory.execute({ command: 'create', path: made, file_text });
    if (ok) say(String(round));
  }
}

async function race(): Promise<void> {
  for (let place = 0; place < 40; place += 1) {
    const path = `/memories/place-${place}/file`;
    const create = { command: 'create', path, file_text: name } as const;
    await tell(`won ${place}`, create, 'ALREADY_EXISTS');
  }
}

async function insert(): Promise<void> {
  for (let round = 0; round < 25; round += 1) {
    const insert_text = `${name}.${round}`;
    const path = '/memories/log';
    await tell(insert_text, { command: 'insert', path, insert_line: 0, insert_text });
  }
}

async function mix(): Promise<void> {
  const [here, there] = ['/memories/here/log', '/memories/there/log'];
  for (let round = 0; round < 12; round += 1) {
    const insert_text = `${name}.${round}`;
    for (const path of [here, there]) {
      const insert = { command: 'insert', path, insert_line: 0, insert_text } as const;
      if (await tell(`inserted ${insert_text}`, insert, 'NOT_FOUND')) break;
    }
    const [old_path, new_path] = round % 2 === 0 ? [here, there] : [there, here];
    await tell('moved', { command: 'rename', old_path, new_path }, 'NOT_FOUND');
    const slot = '/memories/slot';
    const create = { command: 'create', path: slot, file_text: insert_text } as const;
    await tell('created', create, 'ALREADY_EXISTS');
    const path = '/memories/count';
    const count = Number(await textAt(path));
    const counting = { old_str: String(count), new_str: String(count + 1) };
    await tell('counted', { command: 'str_replace', path, ...counting }, 'MATCH_NOT_FOUND');
    await tell('deleted', { command: 'delete', path: slot }, 'NOT_FOUND');
  }
}

async function fill(): Promise<void> {
  for (let place = 0; place < 10; place += 1) {
    const path = `/memories/${name}-${place}`;
    await tell(path, { command: 'create', path, file_text: name }, 'LIMIT_EXCEEDED');
  }
}

if (mode === 'write') await write();
await memory.execute({ command: 'view', path: '/memories' });
say('ready');
await new Promise((resolve) => process.stdin.once('data', resolve));
const modes: Readonly<Record<string, () => Promise<void>>> = { race, insert, mix, fill };
await modes[String(mode)]?.();
process.stdin.destroy();
