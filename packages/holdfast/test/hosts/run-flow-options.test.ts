/** What a host gives `runFlow` beside the flow: limits, secrets, a storage, a clock, a listener. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defaultStoragePolicy,
  defineFlow,
  delay,
  type LogLine,
  type RunFlowOptions,
  runFlow,
  task,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handClock, nextTurn } from '../scenarios/world.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const says = (text: string) => defineFlow({ id: 'says', nodes: { say: task(() => text) } });
const small = { ...defaultStoragePolicy, maxEventPayloadBytes: 4_096, maxAppendBatchBytes: 65_536 };

test('policy is how much a run of the directory may store', async () => {
  const flow = says('x'.repeat(5_000));
  const failed = runFlow(flow, null, { directory, policy: small });
  await expect(failed).rejects.toThrow('RESULT_TOO_LARGE');
  await expect(runFlow(flow, null, { directory })).resolves.toBeDefined();
});

test('knownSecrets are kept out of the record', async () => {
  const failed = runFlow(says('my sk-live-77'), null, { directory, knownSecrets: ['sk-live-77'] });
  await expect(failed).rejects.toThrow('KNOWN_SECRET');
});

test('onLog is told of what node code logs', async () => {
  const lines: LogLine[] = [];
  const flow = defineFlow({
    id: 'logs',
    nodes: { say: task((_input: unknown, { log }) => log('so far so good', { part: 1 })) },
  });
  await runFlow(flow, null, { directory, onLog: (line) => lines.push(line) });
  expect(lines).toMatchObject([
    { nodeId: 'say', position: 'flow/say#1', message: 'so far so good', data: { part: 1 } },
  ]);
});

describe('a storage that is given', () => {
  test('holds the runs, is timed by the clock, and stays open', async () => {
    const clock = handClock();
    const storage = createMemoryRunStorage({ namespace: 'mine', clock });
    const flow = defineFlow({ id: 'sleeps', nodes: { rest: delay(600_000) } });
    let ended = false;
    const running = runFlow(flow, null, { storage, clock }).finally(() => {
      ended = true;
    });
    while (!ended) {
      clock.pass(5_000);
      await nextTurn();
    }
    const { nodes } = await running;
    expect(nodes.rest).toBe(null);
    const [row] = (await storage.runIndex.list()).runs;
    expect(row).toMatchObject({ namespace: 'mine', status: 'complete' });
    const tookMs = Date.parse(row?.updatedAt ?? '') - Date.parse(row?.createdAt ?? '');
    expect(tookMs).toBeGreaterThanOrEqual(600_000);
  });

  test.each([
    ['directory', { directory: 'x' }],
    ['policy', { policy: small }],
    ['knownSecrets', { knownSecrets: [] }],
  ] as const)('excludes %s', async (option, given: RunFlowOptions) => {
    const storage = createMemoryRunStorage({ namespace: 'mine' });
    const refused = runFlow(says('hi'), null, { storage, ...given });
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { option } });
    expect((await storage.runIndex.list()).runs).toEqual([]);
  });
});
