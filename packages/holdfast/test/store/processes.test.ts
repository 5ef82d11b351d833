/** Several real processes on one directory: races, kills, and a process that may end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newDirectory, removeDirectory } from './backings.ts';
import { event, payloadsOf, stream } from './events.ts';

const script = fileURLToPath(new URL('./writer-process.ts', import.meta.url));
let directory = '';
const children: Writer[] = [];

beforeEach(() => {
  directory = newDirectory();
});

afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  removeDirectory(directory);
});

class Writer {
  readonly lines: string[] = [];
  readonly exit: Promise<number | null>;
  readonly #process: ChildProcess;
  #rest = '';
  #heard: () => void = () => {};

  constructor(mode: string, name: string, count = 0) {
    this.#process = spawn(
      process.execPath,
      ['--import', 'tsx', '--no-warnings', script, mode, directory, name, String(count)],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (this.#rest + text).split('\n');
      this.#rest = parts.pop() ?? '';
      this.lines.push(...parts);
      this.#heard();
    });
    this.exit = new Promise((resolve) => this.#process.once('close', resolve));
    children.push(this);
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

describe('processes on one local store', () => {
  it('B58: win each place exactly once, and a loser leaves no trace', async () => {
    const places = 150;
    const writers = ['one', 'two', 'three'].map((name) => new Writer('race', name, places));
    await Promise.all(writers.map((writer) => writer.said(1)));
    for (const writer of writers) writer.go();
    await Promise.all(writers.map((writer) => writer.exit));
    const winners = new Map<number, string>();
    for (const [index, writer] of writers.entries()) {
      for (const line of writer.lines.slice(1)) {
        const [word, place] = line.split(' ');
        expect(word).toBe('won');
        expect(winners.has(Number(place))).toBe(false);
        winners.set(Number(place), ['one', 'two', 'three'][index] ?? '');
      }
    }
    const storage = createLocalRunStorage({ directory, namespace: 'tests' });
    expect(await payloadsOf(storage)).toEqual(
      Array.from({ length: places }, (_, place) => [
        { writer: winners.get(place), place },
        { writer: winners.get(place), place, second: true },
      ]).flat(),
    );
    await storage.close();
  });

  it('share one quota of artifacts, and never pass it together', async () => {
    const writers = ['one', 'two', 'three'].map((name) => new Writer('artifacts', name, 12));
    await Promise.all(writers.map((writer) => writer.said(1)));
    for (const writer of writers) writer.go();
    await Promise.all(writers.map((writer) => writer.exit));
    const told = writers.flatMap((writer) => writer.lines.slice(1));
    const written = told.filter((line) => line.startsWith('wrote '));
    expect(new Set(written).size).toBe(15);
    expect(told.filter((line) => line === 'STORAGE_LIMIT_EXCEEDED')).toHaveLength(21);
    expect(told).toHaveLength(36);
  });

  it('lose nothing that was acknowledged when they are killed', async () => {
    let acknowledged = 0;
    for (let round = 0; round < 5; round += 1) {
      const writer = new Writer('chain', `round-${round}`);
      await writer.said(40 + round * 17);
      await writer.kill();
      acknowledged = Math.max(acknowledged, Number(writer.lines.at(-1)));
      const storage = createLocalRunStorage({ directory, namespace: 'tests' });
      await storage.eventStore.sync();
      const events: number[] = [];
      for await (const found of storage.eventStore.read(stream)) events.push(found.sequence);
      expect(events.length).toBeGreaterThanOrEqual(acknowledged);
      expect(events.length % 3).toBe(0);
      expect(events).toEqual(events.map((_, place) => place + 1));
      acknowledged = events.length;
      await storage.close();
    }
  });

  it('may end with an open store and a subscription; others hear what they wrote', async () => {
    const storage = createLocalRunStorage({ directory, namespace: 'tests' });
    let heard: (payload: unknown) => void = () => {};
    const payload = new Promise<unknown>((resolve) => {
      heard = resolve;
    });
    const stop = storage.eventStore.subscribe(stream, 0, (events) => heard(events[0]?.payload));
    const writer = new Writer('idle', 'idle');
    expect(await writer.exit).toBe(0);
    expect(await payload).toBe('idle');
    stop();
    await storage.eventStore.append(stream, 1, [event('next')]);
    expect(await payloadsOf(storage)).toEqual(['idle', 'next']);
    await storage.close();
  });
});
