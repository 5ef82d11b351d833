/** Scenarios of the case list that stores answer, on every adapter. */
import { createSystemClock, defaultStoragePolicy, type RunStorage, StorageError } from 'holdfast';
import type { StorageBacking, StorageFactory } from 'holdfast/testing';
import { describe, expect, it } from 'vitest';
import { factories } from './backings.ts';
import { codeOf, event, payloadsOf, stream } from './events.ts';

async function withStorages(
  factory: StorageFactory,
  count: number,
  work: (storages: readonly RunStorage[]) => Promise<void>,
): Promise<void> {
  const backing: StorageBacking = await factory();
  const options = {
    namespace: 'tests',
    policy: defaultStoragePolicy,
    knownSecrets: [],
    clock: createSystemClock(),
  };
  const storages: RunStorage[] = [];
  for (let opened = 0; opened < count; opened += 1) storages.push(await backing.open(options));
  try {
    await work(storages);
  } finally {
    for (const storage of storages) await storage.close();
    await backing.dispose?.();
  }
}

async function begin(
  storage: RunStorage,
  runId: string,
  minute: number,
  graphId = 'g',
): Promise<void> {
  const timestamp = new Date(Date.UTC(2026, 10, 30, 10, minute)).toISOString();
  const first = event(runId, { timestamp });
  const index = { status: 'running', graphId } as const;
  await storage.eventStore.append({ ...stream, streamId: runId }, 0, [first], { index });
}

async function listed(storage: RunStorage, filter: object): Promise<readonly string[]> {
  return (await storage.runIndex.list(filter)).runs.map((row) => row.runId);
}

describe.each(factories)('the %s store', (_, factory) => {
  it('B58: of two writers on one stream one fails, and history does not fork', async () => {
    await withStorages(factory, 2, async ([one, two]) => {
      if (one === undefined || two === undefined) return;
      for (let place = 0; place < 20; place += 1) {
        const codes = await Promise.all(
          [one, two].map((storage, writer) =>
            codeOf(() => storage.eventStore.append(stream, place, [event({ place, writer })])),
          ),
        );
        expect(codes.sort()).toEqual(['SEQUENCE_CONFLICT', 'none']);
      }
      const history = await payloadsOf(one);
      expect(history.length).toBe(20);
      expect(await payloadsOf(two)).toEqual(history);
    });
  });

  it('B92: NUL is kept in text, half characters and bad names are refused', async () => {
    await withStorages(factory, 1, async ([storage]) => {
      if (storage === undefined) return;
      await storage.eventStore.append(stream, 0, [event({ output: 'a\0b', error: 'c\u0000' })], {
        index: { graphId: 'graph é' },
      });
      for (const bad of ['\ud83e', 'truncated \ud83e', '\udd16 tail']) {
        expect(await codeOf(() => storage.eventStore.append(stream, 1, [event(bad)]))).toBe(
          'INVALID_STORED_VALUE',
        );
      }
      for (const graphId of ['a\0b', '\ud83e', '']) {
        const index = { graphId };
        expect(
          await codeOf(() => storage.eventStore.append(stream, 1, [event(1)], { index })),
        ).toBe('INVALID_STORED_VALUE');
      }
      expect(await payloadsOf(storage)).toEqual([{ output: 'a\0b', error: 'c\0' }]);
      expect(await listed(storage, { graphId: 'graph é' })).toEqual(['run-1']);
      for (const graphId of ['graph e\u0301', 'graph é\0', '\ud83e']) {
        expect(await listed(storage, { graphId })).toEqual([]);
      }
      for (const runIdPrefix of ['run\0', '\ud83e', '😀', '../', "'"]) {
        expect(await listed(storage, { runIdPrefix })).toEqual([]);
      }
    });
  });

  it('B94: % and _ in a prefix are ordinary characters', async () => {
    await withStorages(factory, 1, async ([storage]) => {
      if (storage === undefined) return;
      for (const [minute, runId] of ['a_b', 'axb', 'A_B', 'a-b'].entries()) {
        await begin(storage, runId, minute);
      }
      expect(await listed(storage, { runIdPrefix: 'a_' })).toEqual(['a_b']);
      expect(await listed(storage, { runIdPrefix: 'a%' })).toEqual([]);
      expect(await listed(storage, { runIdPrefix: '%' })).toEqual([]);
      expect(await listed(storage, { runIdPrefix: 'a' })).toEqual(['a-b', 'axb', 'a_b']);
    });
  });

  it('lists runs newest first in pages that neither repeat nor skip', async () => {
    await withStorages(factory, 1, async ([storage]) => {
      if (storage === undefined) return;
      const runs = Array.from(
        { length: 25 },
        (_run, place) => `run-${String(place).padStart(2, '0')}`,
      );
      for (const [place, runId] of runs.entries()) {
        await begin(storage, runId, Math.floor(place / 4), place % 2 === 0 ? 'even' : 'odd');
      }
      await storage.eventStore.append({ ...stream, streamId: 'no-run' }, 0, [event(1)]);
      await begin(storage, 'elsewhere', 50);
      const found: string[] = [];
      let page: { limit: number; cursor?: string } = { limit: 7 };
      for (;;) {
        const list = await storage.runIndex.list({ graphId: 'even' }, page);
        found.push(...list.runs.map((row) => row.runId));
        if (list.cursor === undefined) break;
        page = { limit: 7, cursor: list.cursor };
      }
      expect(found).toEqual(runs.filter((_run, place) => place % 2 === 0).reverse());
      expect((await storage.runIndex.list()).runs.length).toBe(26);
      expect(await listed(storage, { statuses: [] })).toEqual([]);
      expect(await listed(storage, { statuses: ['paused', 'fail'] })).toEqual([]);
      for (const bad of [{ limit: 0 }, { limit: 1001 }, { limit: 1.5 }, { cursor: 'x' }]) {
        expect(await codeOf(() => storage.runIndex.list({}, bad))).toBe('INVALID_OPTION');
      }
    });
  });

  it('finds what is due: by its time, or by a signal, until its owner has answered', async () => {
    await withStorages(factory, 1, async ([storage]) => {
      if (storage === undefined) return;
      const { eventStore, runIndex } = storage;
      const at = (minute: number): string =>
        new Date(Date.UTC(2026, 10, 30, 11, minute)).toISOString();
      const due = async (minute: number): Promise<readonly string[]> =>
        (await runIndex.due(at(minute))).map((row) => row.runId);
      const target = (runId: string) => ({ ...stream, streamId: runId });
      for (const [runId, wakeAt] of [
        ['late', at(9)],
        ['soon', at(3)],
        ['never', null],
      ] as const) {
        const index = { status: 'paused', wakeAt, graphId: 'g' } as const;
        await eventStore.append(target(runId), 0, [event(runId)], { index });
      }
      await eventStore.append(target('ended'), 0, [event(1)], {
        index: { status: 'complete', wakeAt: at(0) },
      });
      // It has ended, but the run that it continues as is not stored yet.
      expect(await due(2)).toEqual(['ended']);
      await eventStore.append(target('ended'), 1, [], { index: { wakeAt: null } });
      expect([await due(2), await due(3), await due(10)]).toEqual([[], ['soon'], ['soon', 'late']]);
      await eventStore.append(target('never'), 'end', [event('hello', { id: 'signal' })]);
      expect(await due(3)).toEqual(['never', 'soon']);
      await eventStore.append(target('never'), 2, [event('no change of the row')]);
      expect(await due(3)).toEqual(['never', 'soon']);
      await eventStore.append(target('never'), 3, [event('owner')], {
        index: { status: 'paused' },
      });
      expect(await due(3)).toEqual(['soon']);
      await eventStore.append(target('soon'), 1, [event('owner')], { index: { wakeAt: null } });
      expect(await due(10)).toEqual(['late']);
      await eventStore.append(target('ended'), 'end', [event('late', { id: 'signal' })]);
      expect(await due(10)).toEqual(['late']);
      await eventStore.append(target('never'), 4, [event('go')], { index: { status: 'running' } });
      const claimable = (await runIndex.claimable(at(10))).map((row) => row.runId);
      expect(claimable).toEqual(['never', 'late']);
    });
  });
});

describe('a known secret', () => {
  it.each(factories)('never stands in an error of the %s store', async (_, factory) => {
    const secret = 'hunter2-hunter2';
    const backing = await factory();
    const storage = await backing.open({
      namespace: 'tests',
      policy: defaultStoragePolicy,
      knownSecrets: [secret],
      clock: createSystemClock(),
    });
    for (const bad of [event(secret), event(1, { id: secret }), event(1, { type: secret })]) {
      const error = await storage.eventStore
        .append(stream, 0, [bad])
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StorageError);
      const { message, details } = error as StorageError;
      expect(message + JSON.stringify(details)).not.toContain(secret);
    }
    await storage.close();
    await backing.dispose?.();
  });
});
