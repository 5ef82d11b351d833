/** Several real processes on one directory of memory files: races, and kills in mid-write. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createFileMemory } from 'holdfast';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

  /** Returns when no thread of the process makes a step any more. */
  async stop(): Promise<void> {
    const tasks = `/proc/${this.pid}/task`;
    this.#process.kill('SIGSTOP');
    const isStopped = (task: string): boolean => {
      const stat = readFileSync(join(tasks, task, 'stat'), 'utf8');
      return stat
        .slice(stat.lastIndexOf(')') + 1)
        .trim()
        .startsWith('T');
    };
    while (!readdirSync(tasks).every(isStopped)) await nextTurn();
  }

  resume(): void {
    this.#process.kill('SIGCONT');
  }

  get pid(): number {
    return this.#process.pid ?? 0;
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

/** What each of three processes said in `mode`; all begin at once, right after `before`. */
async function racers(
  mode: string,
  before: () => Promise<unknown> = async () => {},
): Promise<readonly (readonly string[])[]> {
  const racing = ['one', 'two', 'three'].map((name) => new Writer(mode, name));
  await Promise.all(racing.map((writer) => writer.said(1)));
  await before();
  for (const writer of racing) writer.go();
  await Promise.all(racing.map((writer) => writer.exit));
  return racing.map(({ lines }) => lines.slice(1));
}

async function make(path: string, file_text: string): Promise<void> {
  const memory = createFileMemory({ scope: 'maker', directory });
  expect(await memory.execute({ command: 'create', path, file_text })).toMatchObject({ ok: true });
}

/** A process that is stopped in the middle of a change. */
async function stoppedInChange(): Promise<Writer> {
  const writer = new Writer('write', 'first');
  await writer.said(1);
  for (;;) {
    while (!isLocked()) await nextTurn();
    await writer.stop();
    if (isLocked()) return writer;
    writer.resume();
  }
}

function isLocked(): boolean {
  const lock = join(directory, '.holdfast-lock');
  try {
    return readdirSync(lock).length > 0;
  } catch {
    return false;
  }
}

function linesOf(text: string): readonly string[] {
  return text.trimEnd().split('\n').sort();
}

it('processes that race to create a file: exactly one makes it, the others are told', async () => {
  const names = ['one', 'two', 'three'];
  const won = (await racers('race')).flatMap((lines, racer) =>
    lines.map((line) => [line, names[racer]] as const),
  );
  const places = Array.from({ length: 40 }, (_, place) => `won ${place}`);
  expect(won.map(([line]) => line).sort()).toEqual([...places].sort());
  for (const [line, name] of won) {
    expect(await textAt(`/memories/place-${line.slice('won '.length)}/file`)).toBe(name);
  }
});

/** Three processes insert into one file; each line is acknowledged, and there at the end. */
async function expectAllInserted(before?: () => Promise<unknown>): Promise<void> {
  const said = (await racers('insert', before)).flat();
  const all = ['one', 'two', 'three'].flatMap((name) =>
    Array.from({ length: 25 }, (_, round) => `${name}.${round}`),
  );
  expect(said.toSorted()).toEqual(all.toSorted());
  expect(linesOf(await textAt('/memories/log'))).toEqual(all.toSorted());
}

it('processes that insert into one file at once lose no line', async () => {
  await make('/memories/log', '');
  await expectAllInserted();
});

it('processes that move, create, delete and edit the same files lose nothing', async () => {
  await make('/memories/here/log', '');
  await make('/memories/count', '0');
  const said = (await racers('mix')).flat();
  const acknowledged = (what: string) => said.filter((line) => line === what).length;
  expect(said.filter((line) => line.startsWith('failed'))).toEqual([]);
  const [home, ...others] = readdirSync(directory).filter((name) => name.endsWith('here'));
  expect(others).toEqual([]);
  const inserted = said.flatMap((line) => line.match(/^inserted (.*)/)?.[1] ?? []);
  expect(linesOf(await textAt(`/memories/${home}/log`))).toEqual(inserted.sort());
  expect(await textAt('/memories/count')).toBe(String(acknowledged('counted')));
  const left = acknowledged('created') - acknowledged('deleted');
  expect(readdirSync(directory).filter((name) => name === 'slot')).toHaveLength(left);
});

it('processes keep the limits together', async () => {
  const said = (await racers('fill')).flat();
  const files = readdirSync(directory).map((name) => `/memories/${name}`);
  expect(files.sort()).toEqual(said.toSorted());
  expect(files).toHaveLength(12);
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

describe.runIf(process.platform === 'linux')('a process that is stopped in a change', () => {
  const create = { command: 'create', path: '/memories/mine', file_text: 'x' } as const;

  it('is waited for, at most so long, and named; readers do not wait', async () => {
    const holder = await stoppedInChange();
    const hasty = createFileMemory({ scope: 'tests', directory, lockWaitMs: 20 });
    const error = { code: 'LOCKED', details: { pid: holder.pid } };
    expect(await hasty.execute(create)).toMatchObject({ ok: false, error });
    expect(await textAt('/memories/shared')).toMatch(/^(\d)\1{19999}\n$/);
    const patient = createFileMemory({ scope: 'tests', directory });
    const waiting = patient.execute(create);
    holder.resume();
    expect(await waiting).toMatchObject({ ok: true });
    expect(await textAt('/memories/mine')).toBe('x');
  });

  it('and is killed then keeps nobody out, and lets no two in', async () => {
    await make('/memories/log', '');
    const holder = await stoppedInChange();
    const patient = createFileMemory({ scope: 'tests', directory, lockWaitMs: 60_000 });
    const waiting = patient.execute(create);
    await expectAllInserted(() => holder.kill());
    expect(await waiting).toMatchObject({ ok: true });
    expect(readdirSync(directory)).not.toContain('.holdfast-lock');
  });
});
