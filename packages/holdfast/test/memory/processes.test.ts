/** Several real processes on one directory of memory files: races, and kills in mid-write. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createFileMemory } from 'holdfast';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newDirectory, removeDirectory } from './backings.ts';

const script = fileURLToPath(new URL('./writer-process.ts', import.meta.url));
let directory = '';
const writers: Writer[] = [];

beforeEach(() => {
  directory = newDirectory();
});

afterEach(async () => {
  for (const writer of writers.splice(0)) await writer.kill();
  removeDirectory(directory);
});

class Writer {
  readonly lines: string[] = [];
  readonly exit: Promise<unknown>;
  readonly #process: ChildProcess;
  #heard: () => void = () => {};

  constructor(mode: string, name: string) {
    const args = ['--import', 'tsx', '--no-warnings', script, mode, directory, name];
    this.#process = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.exit = new Promise((resolve) => this.#process.once('close', resolve));
    const { stdout } = this.#process;
    if (stdout === null) throw new Error('The process has no output.');
    createInterface({ input: stdout }).on('line', (line) => {
      this.lines.push(line);
      this.#heard();
    });
    writers.push(this);
  }

  go(): void {
    this.#process.stdin?.end('go\n');
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode === null) this.#process.kill('SIGKILL');
    await this.exit;
  }

  async said(lines: number): Promise<void> {
    while (this.lines.length < lines) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }
}

async function textAt(path: string): Promise<string> {
  const memory = createFileMemory({ scope: 'reader', directory });
  const result = await memory.execute({ command: 'view', path });
  expect(result).toMatchObject({ ok: true });
  return result.ok ? String(Reflect.get(result.value as object, 'text')) : '';
}

it('processes that race to create a file: exactly one makes it, the others are told', async () => {
  const names = ['one', 'two', 'three'];
  const racers = names.map((name) => new Writer('race', name));
  await Promise.all(racers.map((writer) => writer.said(1)));
  for (const writer of racers) writer.go();
  await Promise.all(racers.map((writer) => writer.exit));
  const won = racers.flatMap(({ lines }, racer) =>
    lines.slice(1).map((line) => [line, names[racer]] as const),
  );
  const places = Array.from({ length: 40 }, (_, place) => `won ${place}`);
  expect(won.map(([line]) => line).sort()).toEqual([...places].sort());
  for (const [line, name] of won) {
    expect(await textAt(`/memories/place-${line.slice('won '.length)}/file`)).toBe(name);
  }
});

it('a process killed while it writes leaves whole files, and what it acknowledged', async () => {
  for (const name of ['first', 'second', 'third']) {
    const pair = [new Writer('write', name), new Writer('write', `${name}-too`)];
    await Promise.all(pair.map((writer) => writer.said(3)));
    await Promise.all(pair.map((writer) => writer.kill()));
    expect(await textAt('/memories/shared')).toMatch(/^(\d)\1{19999}\n$/);
    for (const [place, { lines }] of pair.entries()) {
      for (const round of lines) {
        const path = `/memories/${place === 0 ? name : `${name}-too`}/${round}`;
        expect(await textAt(path)).toBe(`${round}\n`.repeat(2_000));
      }
    }
  }
});
