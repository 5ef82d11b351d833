/** The kit of run indexes: rows that their appends keep, lists, and what a host finds to do. */
import { type IsoTime, isoTime } from '../base/time.ts';
import { currentOwner } from '../process/owner.ts';
import type { RunFilter, RunIndexRow, RunIndexUpdate, RunPage } from '../store/run-index.ts';
import type { RunStorage } from '../store/storage.ts';
import { type ConformanceReport, fail, requireConformance } from './conformance-report.ts';
import { expectSame, expectTrue } from './expectation.ts';
import {
  expectRefusal,
  kitEvent,
  kitStream,
  kitTime,
  reportOfStorage,
  type StorageCase,
  type StorageFactory,
} from './storage-fixture.ts';

/**
 * Checks a run index against its port. Never throws for what the store does wrong.
 *
 * @example await runRunIndexConformance(factory)
 */
export function runRunIndexConformance(factory: StorageFactory): Promise<ConformanceReport> {
  return reportOfStorage(cases, factory);
}

/**
 * Like `runRunIndexConformance`, but throws `CONFORMANCE_FAILED` naming every failure.
 *
 * @example await assertRunIndexConformance(() => ({ open: openMyStorage }));
 */
export async function assertRunIndexConformance(factory: StorageFactory): Promise<void> {
  requireConformance(await runRunIndexConformance(factory));
}

const LEASE_MS = 60_000;

/** So long after the kit's time. */
function after(ms: number): IsoTime {
  return isoTime(Date.parse(kitTime) + ms);
}

interface RunSeed extends RunIndexUpdate {
  readonly runId: string;
  /** When it was created, in milliseconds after the kit's time; 0 by default. */
  readonly atMs?: number;
  readonly namespace?: string;
}

/** Stores a run by its first append. */
async function begin(storage: RunStorage, seed: RunSeed): Promise<void> {
  const { runId, atMs = 0, namespace, ...index } = seed;
  const events = [kitEvent({ first: true }, { timestamp: after(atMs) })];
  const row = { status: 'running', graphId: 'graph', ...index } as const;
  await storage.eventStore.append(kitStream(runId, namespace), 0, events, { index: row });
}

async function beginAll(storage: RunStorage, seeds: readonly RunSeed[]): Promise<void> {
  for (const seed of seeds) await begin(storage, seed);
}

async function rowOf(storage: RunStorage, runId: string): Promise<RunIndexRow> {
  return (await storage.runIndex.get(runId)) ?? fail(`run ${runId} has no row`);
}

const idsOf = (rows: readonly RunIndexRow[]): readonly string[] => rows.map(({ runId }) => runId);

async function listed(storage: RunStorage, filter?: RunFilter, page?: RunPage) {
  return idsOf((await storage.runIndex.list(filter, page)).runs);
}

async function dueAt(storage: RunStorage, ms: number): Promise<readonly string[]> {
  return idsOf(await storage.runIndex.due(after(ms)));
}

async function claimableAt(storage: RunStorage, ms: number): Promise<readonly string[]> {
  return [...idsOf(await storage.runIndex.claimable(after(ms)))].sort();
}

async function hold(storage: RunStorage, runId: string, ttlMs: number): Promise<void> {
  const { leaseStore } = storage;
  const grant = await leaseStore.acquire(runId, currentOwner('a'), ttlMs, { takeover: 'never' });
  if (!('fence' in grant)) fail(`the lease of ${runId} was refused`);
}

const rowCases: readonly StorageCase[] = [
  {
    name: 'a stream has a row from the first append that brings one',
    async run(bench) {
      const [storage, other] = [await bench.open(), await bench.open()];
      expectSame('an unknown run', await storage.runIndex.get('run-1'), null);
      await storage.eventStore.append(kitStream(), 0, [kitEvent(1)]);
      expectSame('before it brings one', await other.runIndex.get('run-1'), null);
      expectSame('the list before', await listed(other), []);
      const later = [kitEvent(2, { timestamp: after(5) })];
      const index = { status: 'paused', graphId: 'graph', wakeAt: after(9) } as const;
      await storage.eventStore.append(kitStream(), 1, later, { index });
      expectSame('the row', await rowOf(other, 'run-1'), {
        namespace: 'kit',
        runId: 'run-1',
        graphId: 'graph',
        status: 'paused',
        wakeAt: after(9),
        createdAt: kitTime,
        updatedAt: after(5),
        sequence: 2,
        isMarkedDue: false,
      });
    },
  },
  {
    name: 'a row follows its stream; what an update leaves out stays, and null takes the wake away',
    async run(bench) {
      const [storage, other] = [await bench.open(), await bench.open()];
      await begin(storage, { runId: 'run-1', wakeAt: after(50) });
      await storage.eventStore.append(kitStream(), 1, [kitEvent(2, { timestamp: after(1) })]);
      const grown = await rowOf(other, 'run-1');
      expectSame('without an update', [grown.sequence, grown.updatedAt], [2, after(1)]);
      expectSame('what stays', [grown.status, grown.wakeAt], ['running', after(50)]);
      const stream = kitStream();
      await other.eventStore.append(stream, 2, [kitEvent(3)], { index: { status: 'paused' } });
      const paused = await rowOf(storage, 'run-1');
      expectSame('the status only', [paused.status, paused.wakeAt], ['paused', after(50)]);
      await storage.eventStore.append(stream, 3, [], { index: { wakeAt: null } });
      const still = await rowOf(other, 'run-1');
      expectSame('no wake', [still.status, still.wakeAt], ['paused', null]);
      expectSame('what else stays', [still.graphId, still.sequence], ['graph', 3]);
    },
  },
  {
    name: 'an update is made by its append or not at all',
    async run(bench) {
      const [storage, other] = [await bench.open(), await bench.open()];
      await begin(storage, { runId: 'run-1' });
      const index = { status: 'complete', wakeAt: after(1) } as const;
      for (const events of [[kitEvent(2)], []]) {
        await expectRefusal('at another end', 'SEQUENCE_CONFLICT', () =>
          other.eventStore.append(kitStream(), 7, events, { index }),
        );
      }
      await expectRefusal('a payload too large', 'STORAGE_LIMIT_EXCEEDED', () =>
        other.eventStore.append(kitStream(), 1, [kitEvent('x'.repeat(5_000))], { index }),
      );
      const row = await rowOf(storage, 'run-1');
      const found = [row.status, row.wakeAt, row.sequence];
      expectSame('the row', found, ['running', null, 1]);
    },
  },
  {
    name: 'rows of another namespace are invisible',
    async run(bench) {
      const storage = await bench.open();
      const other = await bench.open({ namespace: 'elsewhere' });
      await begin(other, { runId: 'theirs', namespace: 'elsewhere', wakeAt: after(0) });
      await begin(storage, { runId: 'ours', wakeAt: after(0) });
      expectSame('get', await storage.runIndex.get('theirs'), null);
      expectSame('the list', await listed(storage), ['ours']);
      expectSame('what is due', await dueAt(storage, 1), ['ours']);
      expectSame('what is claimable', await claimableAt(storage, 1), ['ours']);
      expectSame('their list', await listed(other), ['theirs']);
    },
  },
];

const listCases: readonly StorageCase[] = [
  {
    name: 'a filter is by statuses, graph and literal prefix, all at once',
    async run(bench) {
      const storage = await bench.open();
      await beginAll(storage, [
        { runId: 'a_1', status: 'running', atMs: 1 },
        { runId: 'a_2', status: 'paused', atMs: 2 },
        { runId: 'ab1', status: 'fail', graphId: 'other', atMs: 3 },
        { runId: 'A_3', status: 'cancelled', atMs: 4 },
        { runId: 'b', status: 'complete', graphId: 'other', atMs: 5 },
      ]);
      const all = ['b', 'A_3', 'ab1', 'a_2', 'a_1'];
      expectSame('no filter', await listed(storage), all);
      const statuses = ['fail', 'paused'] as const;
      expectSame('statuses', await listed(storage, { statuses }), ['ab1', 'a_2']);
      expectSame('no status', await listed(storage, { statuses: [] }), []);
      expectSame('a graph', await listed(storage, { graphId: 'other' }), ['b', 'ab1']);
      const byPrefix = await listed(storage, { runIdPrefix: 'a_' });
      expectSame('a prefix, literally', byPrefix, ['a_2', 'a_1']);
      expectSame('no prefix', await listed(storage, { runIdPrefix: '' }), all);
      expectSame('an odd prefix', await listed(storage, { runIdPrefix: '%' }), []);
      const every = { statuses, graphId: 'other', runIdPrefix: 'a' };
      expectSame('all at once', await listed(storage, every), ['ab1']);
    },
  },
  {
    name: 'pages are newest first and stay so while runs are stored and changed',
    async run(bench) {
      const storage = await bench.open();
      const seeds = ['r1', 'r2', 'r3', 'r4', 'r5'].map((runId, place) => ({
        runId,
        // Two of one moment: the greater id stands first.
        atMs: Math.max(place, 1) * 10,
      }));
      await beginAll(storage, seeds);
      const first = await storage.runIndex.list({}, { limit: 2 });
      expectSame('the first page', idsOf(first.runs), ['r5', 'r4']);
      await begin(storage, { runId: 'r9', atMs: 90 });
      await storage.eventStore.append(kitStream('r4'), 1, [kitEvent(2, { timestamp: after(99) })]);
      const page = { limit: 2, cursor: first.cursor ?? fail('the first page has no cursor') };
      const second = await storage.runIndex.list({}, page);
      expectSame('the second page', idsOf(second.runs), ['r3', 'r2']);
      const last = await storage.runIndex.list({}, { ...page, cursor: second.cursor ?? '' });
      expectSame('the last page', idsOf(last.runs), ['r1']);
      expectTrue('the last page has a cursor', last.cursor === undefined);
      const whole = await storage.runIndex.list({}, { limit: 6 });
      expectTrue('a page that holds all has a cursor', whole.cursor === undefined);
    },
  },
  {
    name: 'a page without sense is refused',
    async run(bench) {
      const storage = await bench.open();
      await begin(storage, { runId: 'run-1' });
      for (const limit of [0, -1, 1.5, 1_001, Number.NaN]) {
        const refused = () => storage.runIndex.list({}, { limit });
        await expectRefusal(`a limit of ${limit}`, 'INVALID_OPTION', refused);
      }
      const lost = () => storage.runIndex.list({}, { cursor: 'nowhere' });
      await expectRefusal('a cursor of nowhere', 'INVALID_OPTION', lost);
      expectSame('the greatest limit', await listed(storage, {}, { limit: 1_000 }), ['run-1']);
    },
  },
];

const dueCases: readonly StorageCase[] = [
  {
    name: 'what is due comes in the order of its wake, an ended run too, and not before',
    async run(bench) {
      const storage = await bench.open();
      await beginAll(storage, [
        { runId: 'late', status: 'paused', wakeAt: after(30) },
        { runId: 'early', status: 'running', wakeAt: after(10) },
        { runId: 'ended', status: 'complete', wakeAt: after(20) },
        { runId: 'never', status: 'paused', wakeAt: null },
        { runId: 'busy', status: 'running' },
      ]);
      expectSame('too early', await dueAt(storage, 9), []);
      expectSame('on time', await dueAt(storage, 10), ['early']);
      expectSame('all', await dueAt(storage, 30), ['early', 'ended', 'late']);
      const index = { wakeAt: null };
      await storage.eventStore.append(kitStream('early'), 1, [], { index });
      expectSame('without a wake', await dueAt(storage, 30), ['ended', 'late']);
    },
  },
  {
    name: 'an outside append marks an open run due until its owner has changed the row',
    async run(bench) {
      const [owner, sender] = [await bench.open(), await bench.open()];
      const asleep = { status: 'paused', wakeAt: after(1_000) } as const;
      await beginAll(owner, [
        { runId: 'open', ...asleep },
        { runId: 'ended', status: 'complete' },
      ]);
      const event = (id: string) => [kitEvent({ id }, { id })];
      for (const runId of ['open', 'ended']) {
        await sender.eventStore.append(kitStream(runId), 'end', event('s1'));
      }
      expectSame('marked', await dueAt(owner, 0), ['open']);
      expectSame('claimable', await claimableAt(owner, 0), ['open']);
      expectTrue('the row has no mark', (await rowOf(owner, 'open')).isMarkedDue);
      await owner.eventStore.append(kitStream('open'), 2, [kitEvent(3)]);
      expectSame('an append without an update', await dueAt(owner, 0), ['open']);
      await expectRefusal('an owner that has not read it', 'SEQUENCE_CONFLICT', () =>
        owner.eventStore.append(kitStream('open'), 2, [], { index: asleep }),
      );
      expectSame('marked still', await dueAt(owner, 0), ['open']);
      await owner.eventStore.append(kitStream('open'), 3, [], { index: asleep });
      expectSame('cleared', await dueAt(owner, 0), []);
      expectTrue('the mark stays', !(await rowOf(sender, 'open')).isMarkedDue);
    },
  },
  {
    name: 'claimable is what is open, has something to do, and nobody holds',
    async run(bench) {
      const [storage, other] = [await bench.open(), await bench.open()];
      await beginAll(storage, [
        { runId: 'held', status: 'running' },
        { runId: 'free', status: 'running' },
        { runId: 'sleeps', status: 'running', wakeAt: after(LEASE_MS * 5) },
        { runId: 'due', status: 'paused', wakeAt: after(10) },
        { runId: 'waits', status: 'paused', wakeAt: after(LEASE_MS * 5) },
        { runId: 'asks', status: 'paused' },
        { runId: 'ended', status: 'fail', wakeAt: after(10) },
      ]);
      await hold(other, 'held', LEASE_MS);
      expectSame('before', await claimableAt(storage, 9), ['free', 'sleeps']);
      expectSame('due', await claimableAt(storage, 10), ['due', 'free', 'sleeps']);
      const all = ['due', 'free', 'held', 'sleeps'];
      expectSame('run out', await claimableAt(storage, LEASE_MS), all);
      await hold(other, 'free', LEASE_MS * 2);
      const rest = ['due', 'held', 'sleeps'];
      expectSame('held by another', await claimableAt(storage, LEASE_MS), rest);
    },
  },
  {
    name: 'a lease that was released holds nobody up',
    async run(bench) {
      const storage = await bench.open();
      await begin(storage, { runId: 'run-1' });
      const { leaseStore } = storage;
      const owner = currentOwner('a');
      const grant = await leaseStore.acquire('run-1', owner, LEASE_MS, { takeover: 'never' });
      expectSame('held', await claimableAt(storage, 0), []);
      if ('fence' in grant) await leaseStore.release(grant);
      expectSame('released', await claimableAt(storage, 0), ['run-1']);
    },
  },
];

const cases: readonly StorageCase[] = [...rowCases, ...listCases, ...dueCases];
