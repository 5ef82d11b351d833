/** Runs that stand for an attempt of another: who may write to them, and where they go on. */
import type { GraphExecutor, LeaseGrant, RunResult, RunStorage } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { gate } from '../executor/world.ts';
import { flowScene } from '../scenarios/world.ts';
import { flowOf } from './flow-world.ts';

const outer = flowOf([['sub', 'subflow', { flow: 'inner', input: '{{ input }}' }]], ['start>sub']);

describe('two owners of a parent', () => {
  test('the one whose lease was taken writes nothing more to the child', async () => {
    const storage = createMemoryRunStorage({ namespace: 'test' });
    const done = gate<void>();
    const reached = gate<void>();
    let started = 0;
    const work = async () => {
      started += 1;
      reached.open();
      await done.opened;
    };
    const flows = {
      inner: flowOf([['work', 'task', { function: 'work', retrySafe: true }]], ['start>work']),
    };
    const scene = await flowScene(outer, { work }, { storage, flows });
    const held = holdingChildren(storage);
    const old = await scene.open({ storage: held.storage, lease: await leaseOf(storage, 'old') });
    const lost = old.run().catch((error: unknown) => error);
    await held.asked;
    const next = await scene.open({ lease: await leaseOf(storage, 'new') });
    const ended = toRest(next);
    await reached.opened;
    held.letGo();
    expect(await lost).toMatchObject({ code: 'OWNERSHIP_LOST' });
    done.open();
    expect(await ended).toMatchObject({ kind: 'complete' });
    expect(started).toBe(1);
  });
});

/** A storage that says nothing of child runs until it is let go. */
function holdingChildren(storage: RunStorage) {
  const asked = gate<void>();
  const free = gate<void>();
  const get = async (runId: string) => {
    if (runId !== 'r1') {
      asked.open();
      await free.opened;
    }
    return storage.runIndex.get(runId);
  };
  // It is not told of what others write either, as a process that sleeps is not.
  const eventStore = withOwn(storage.eventStore, { subscribe: () => () => undefined });
  const runIndex = withOwn(storage.runIndex, { get });
  return {
    storage: { ...storage, eventStore, runIndex },
    asked: asked.opened,
    letGo: () => free.open(),
  };
}

/** A port with some calls replaced. */
function withOwn<Port extends object>(port: Port, own: Partial<Port>): Port {
  return new Proxy(port, {
    get: (target, key) => {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key);
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The lease of `r1`, taken from whoever had it. */
async function leaseOf(storage: RunStorage, id: string): Promise<LeaseGrant> {
  const owner = { id, host: 'h', bootId: 'b', pidNamespace: 'n', pid: 1, startTime: 's' };
  const grant = await storage.leaseStore.acquire('r1', owner, 60_000, { takeover: 'never' });
  if ('heldBy' in grant) throw new Error('the lease is held');
  await storage.leaseStore.release(grant);
  return grant;
}

/** Runs, re-opening what another owner has left in flight. */
async function toRest(executor: GraphExecutor): Promise<RunResult> {
  const result = await executor.run();
  return result.kind === 'waiting' ? executor.resume(result.positions) : result;
}
