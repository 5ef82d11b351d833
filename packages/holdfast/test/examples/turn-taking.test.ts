/** Seed 000, "Turn-taking example": what it prints, and that no kill changes it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { afterAll, describe, expect, test } from 'vitest';
import { isNodeMatrix } from '../simulation/assert-seeds.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const worker = fileURLToPath(new URL('turns-worker.mjs', import.meta.url));
const base = mkdtempSync(path.join(tmpdir(), 'holdfast-turns-test-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const newDirectory = () => mkdtempSync(path.join(base, 'run-'));

interface Job {
  readonly kill?: { readonly what: string; readonly at: number };
  readonly reconcile?: { readonly kind: string; readonly result?: string };
}

function work(directory: string, job: Job = {}) {
  const { stdout, stderr, signal, status } = spawnSync(
    process.execPath,
    [worker, JSON.stringify({ directory, ...job })],
    { encoding: 'utf8' },
  );
  if (signal === null) expect(status, stderr).toBe(0);
  return { said: stdout, killed: signal === 'SIGKILL' };
}

const REPORT =
  'dispatches: 6\nprimary calls: 1\nfallback calls: 3\n' +
  'result: {"kind":"complete","output":{"rounds":3,"verdict":' +
  '"On \\"[critic, round 3 of 3] Judge: Draft 3, after 82 characters\\": better each time."}}';

/** The report once everything has been said that a killed writer waits for. */
function reportAfter(directory: string): { readonly report: string; readonly waited: boolean } {
  const { said } = work(directory);
  if (said !== 'waits') return { report: said, waited: false };
  return { report: work(directory, { reconcile: { kind: 'retry' } }).said, waited: true };
}

const events = async (directory: string) => {
  const storage = createLocalRunStorage({ directory, namespace: 'examples' });
  const all: { type: string; payload: Record<string, unknown> }[] = [];
  const stream = { namespace: 'examples', streamId: 'turn-taking' };
  for await (const { type, payload } of storage.eventStore.read(stream)) {
    all.push({ type, payload: payload as Record<string, unknown> });
  }
  await storage.close();
  return all;
};

test('000-51: the command reports six dispatches, one primary call, three fallback calls', () => {
  const program = path.join(root, 'examples', 'dist', 'packages', 'turn-taking.js');
  const { stdout, stderr, status } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  expect(stdout.trim()).toBe(REPORT);
});

test(
  '000-47 000-48 000-49: turns alternate on a stored run; the primary ' + 'dies once, in the first',
  async () => {
    const directory = newDirectory();
    expect(work(directory).said).toBe(REPORT);
    const all = await events(directory);
    const dispatched = all.filter(({ type }) => type === 'graph:node-dispatched');
    expect(dispatched.map(({ payload }) => payload['nodeId'])).toEqual([
      ...['writer', 'critic', 'writer', 'critic', 'writer', 'critic'],
    ]);
    const dead = all.filter(({ type }) => type === 'graph:model-unavailable');
    expect(dead.map(({ payload }) => payload['position'])).toEqual(['turn/1/critic']);
    const critics = all.filter(
      ({ type, payload }) => type === 'graph:node-completed' && payload['nodeId'] === 'critic',
    );
    expect(critics.map(({ payload }) => payload['result'])).toEqual([
      expect.stringContaining('[critic, round 1 of 3]'),
      expect.stringContaining('[critic, round 2 of 3]'),
      expect.stringContaining('[critic, round 3 of 3]'),
    ]);
  },
);

describe.skipIf(isNodeMatrix)('killed', () => {
  test.each([1, 2, 3])(
    '000-50: in the fallback call of round %d it asks again and reports the same',
    (at) => {
      const directory = newDirectory();
      expect(work(directory, { kill: { what: 'fallback', at } }).killed).toBe(true);
      expect(reportAfter(directory)).toEqual({ report: REPORT, waited: false });
    },
  );

  test('in the primary call it asks again and reports the same', () => {
    const directory = newDirectory();
    expect(work(directory, { kill: { what: 'primary', at: 1 } }).killed).toBe(true);
    expect(reportAfter(directory)).toEqual({ report: REPORT, waited: false });
  });

  test.each([1, 2, 3])(
    'in turn %d of the writer it waits for a person, then reports the same',
    (at) => {
      const directory = newDirectory();
      expect(work(directory, { kill: { what: 'writer', at } }).killed).toBe(true);
      expect(reportAfter(directory)).toEqual({ report: REPORT, waited: true });
    },
  );

  test('in the writer, a person may say what was written', () => {
    const directory = newDirectory();
    expect(work(directory, { kill: { what: 'writer', at: 1 } }).killed).toBe(true);
    expect(work(directory).said).toBe('waits');
    const reconcile = { kind: 'completed', result: 'Draft 1' };
    expect(work(directory, { reconcile }).said).toBe(REPORT);
  });

  test.each(['before-append', 'after-append'])(
    '%s, at each of them, it reports the same',
    (what) => {
      let at = 1;
      for (; at < 40; at += 1) {
        const directory = newDirectory();
        const { killed } = work(directory, { kill: { what, at } });
        if (!killed) break;
        expect(reportAfter(directory).report, `${what} ${at}`).toBe(REPORT);
      }
      expect(at).toBeGreaterThan(6);
    },
  );
});

test.skipIf(isNodeMatrix)(
  '000-52: the same source compiles and runs from the packed package under TypeScript 6 and 7',
  () => {
    const tool = path.join(root, 'tools', 'packed-examples.mjs');
    const { stdout, stderr, status } = spawnSync(process.execPath, [tool], { encoding: 'utf8' });
    expect(status, stderr + stdout).toBe(0);
    for (const version of [6, 7]) expect(stdout).toContain(`TypeScript ${version}`);
    expect(stdout.split(REPORT)).toHaveLength(3);
  },
);
