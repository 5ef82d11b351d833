/** Gates that noise cannot touch: what a step costs in commits, syncs, bytes and memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createGraphExecutor } from 'holdfast';
import { createMemoryBacking, createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, it } from 'vitest';
import {
  artifactChain,
  chain,
  costOf,
  engineChain,
  fanOut,
  loop,
  policy,
  storeAll,
} from './workloads.ts';

const MEGABYTE = 1024 * 1024;

describe('W2: a chain of 1,000 nodes on SQLite', () => {
  const cost = costOf(chain(1_000), ['run']);

  it('commits once a step, and once for the decision that starts the first', async () => {
    expect((await cost).commits).toBe(1_001);
  });

  it('syncs at most 1.02 times a step', async () => {
    expect((await cost).syncs / 1_000).toBeLessThanOrEqual(1.02);
  });

  it('adds at most 800 bytes a step to the file', async () => {
    expect((await cost).fileBytes / 1_000).toBeLessThanOrEqual(800);
  });

  it('keeps the write-ahead log below 5 MB', async () => {
    expect((await cost).walBytes).toBeLessThanOrEqual(5 * MEGABYTE);
  });
});

describe('W3: a fan-out over 1,000 nodes on SQLite', () => {
  it('records every branch in at most 6 commits', async () => {
    const { commits, walBytes } = await costOf(fanOut(1_000), ['run']);
    expect(commits).toBeLessThanOrEqual(6);
    expect(walBytes).toBeLessThanOrEqual(5 * MEGABYTE);
  });
});

describe('W5: 200 runs of 50 steps on SQLite', () => {
  it('syncs at most 0.02 times a step', async () => {
    const runIds = Array.from({ length: 200 }, (_, place) => `run${place}`);
    const { syncs, walBytes } = await costOf(chain(50), runIds);
    expect(syncs / 10_000).toBeLessThanOrEqual(0.02);
    expect(walBytes).toBeLessThanOrEqual(5 * MEGABYTE);
  });
});

describe('W7: 1,000 engine calls on SQLite', () => {
  it('commits once a call, and once for the decision that starts the first', async () => {
    const { commits, syncs } = await costOf(engineChain(1_000), ['run']);
    expect(commits).toBe(1_001);
    expect(syncs / 1_000).toBeLessThanOrEqual(1.02);
  });
});

describe('W8: results of 100 kB on SQLite', () => {
  it('are stored once each, as artifacts', async () => {
    const program = artifactChain(200, 100_000);
    const { fileBytes } = await costOf(program, ['run'], { maxEventPayloadBytes: 64_000 });
    expect(fileBytes).toBeGreaterThan(200 * 100_000);
    expect(fileBytes).toBeLessThanOrEqual(1.1 * 200 * 100_000);
  });
});

describe('W4: a loop in memory', () => {
  it('leaves at most 5 MB behind after 10,000 iterations, its record left out', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const backing = createMemoryBacking();
    const storage = createMemoryRunStorage({ namespace: 'gates', policy, backing });
    const program = loop(10_000);
    await storeAll(storage, program, ['run']);
    const executor = await createGraphExecutor({ runId: 'run', storage, ...program });
    collect();
    const before = process.memoryUsage().heapUsed;
    await executor.run();
    backing.streams.clear();
    collect();
    const growth = process.memoryUsage().heapUsed - before;
    expect(executor.runId).toBe('run');
    expect(growth).toBeLessThanOrEqual(5 * MEGABYTE);
  });
});

describe('stored bytes grow with the events', () => {
  it('a chain ten times as long takes about ten times the bytes, snapshots included', async () => {
    const short = (await costOf(chain(1_000), ['run'])).fileBytes;
    const long = (await costOf(chain(10_000), ['run'])).fileBytes;
    // Room for what one snapshot more or less makes; a square would be a hundred times the bytes.
    expect(long / short).toBeLessThanOrEqual(15);
  });
});
