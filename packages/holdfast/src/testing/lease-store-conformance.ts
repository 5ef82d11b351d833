/** The kit of lease stores: one holder at a time, and fences that only grow. */
import type { OwnerIdentity } from '../base/owner-identity.ts';
import { currentOwner, isProvenDead } from '../process/owner.ts';
import type { AcquireOptions, LeaseGrant } from '../store/lease-store.ts';
import type { RunStorage } from '../store/storage.ts';
import { type ConformanceReport, fail, requireConformance } from './conformance-report.ts';
import { expectSame, expectTrue } from './expectation.ts';
import {
  expectRefusal,
  reportOfStorage,
  type StorageCase,
  type StorageFactory,
} from './storage-fixture.ts';

const TTL_MS = 60_000;

/**
 * Checks a lease store against its port. Never throws for what the store does wrong.
 *
 * @example await runLeaseStoreConformance(factory)
 */
export function runLeaseStoreConformance(factory: StorageFactory): Promise<ConformanceReport> {
  return reportOfStorage(cases, factory);
}

/**
 * Like `runLeaseStoreConformance`, but throws `CONFORMANCE_FAILED` naming every failure.
 *
 * @example await assertLeaseStoreConformance(() => ({ open: openMyStorage }));
 */
export async function assertLeaseStoreConformance(factory: StorageFactory): Promise<void> {
  requireConformance(await runLeaseStoreConformance(factory));
}

/** An owner that lives: this process. */
function living(id: string): OwnerIdentity {
  return currentOwner(id);
}

/** An owner of an earlier boot of this machine; null where the machine cannot prove deaths. */
function dead(id: string): OwnerIdentity | null {
  const owner = { ...currentOwner(id), bootId: 'an-earlier-boot' };
  return isProvenDead(owner) ? owner : null;
}

async function granted(
  storage: RunStorage,
  owner: OwnerIdentity,
  key = 'run-1',
): Promise<LeaseGrant> {
  const outcome = await storage.leaseStore.acquire(key, owner, TTL_MS, { takeover: 'proven-dead' });
  return 'fence' in outcome ? outcome : fail(`${owner.id} was refused: ${outcome.heldBy.id} holds`);
}

async function refused(storage: RunStorage, owner: OwnerIdentity, key = 'run-1'): Promise<string> {
  const outcome = await storage.leaseStore.acquire(key, owner, TTL_MS, { takeover: 'proven-dead' });
  return 'heldBy' in outcome ? outcome.heldBy.id : fail(`${owner.id} was granted a held lease`);
}

const cases: readonly StorageCase[] = [
  {
    name: 'a lease has one holder, who may acquire it again with the same fence',
    async run(bench) {
      const [storage, other] = [await bench.open(), await bench.open()];
      const grant = await granted(storage, living('a'));
      expectSame('the holder', grant.owner, living('a'));
      expectSame('who holds it', await refused(other, living('b')), 'a');
      bench.pass(TTL_MS / 2);
      const again = await granted(other, living('a'));
      expectSame('the fence', again.fence.toString(), grant.fence.toString());
      expectTrue('it was not prolonged', again.expiresAt > grant.expiresAt);
      expectSame('still held', await refused(storage, living('b')), 'a');
    },
  },
  {
    name: 'a renewal prolongs, an expiry frees, and the fence grows',
    async run(bench) {
      const [storage, other] = [await bench.open(), await bench.open()];
      const first = await granted(storage, living('a'));
      bench.pass(TTL_MS - 1_000);
      const renewed = await storage.leaseStore.renew(first, TTL_MS);
      expectSame('the same fence', renewed.fence.toString(), first.fence.toString());
      bench.pass(TTL_MS - 1);
      expectSame('held', await refused(other, living('b')), 'a');
      bench.pass(1);
      const second = await granted(other, living('b'));
      expectTrue('the fence did not grow', second.fence > first.fence);
      await expectRefusal('the old holder', 'LEASE_LOST', () =>
        storage.leaseStore.renew(renewed, TTL_MS),
      );
      bench.pass(TTL_MS * 2);
      const late = await other.leaseStore.renew(second, TTL_MS);
      expectSame('late, but nobody came', late.fence.toString(), second.fence.toString());
    },
  },
  {
    name: 'a release frees, but only by the grant that holds',
    async run(bench) {
      const [storage, other] = [await bench.open(), await bench.open()];
      const first = await granted(storage, living('a'));
      await storage.leaseStore.release(first);
      await expectRefusal('after the release', 'LEASE_LOST', () =>
        storage.leaseStore.renew(first, TTL_MS),
      );
      const second = await granted(other, living('b'));
      expectTrue('the fence did not grow', second.fence > first.fence);
      await storage.leaseStore.release(first);
      expectSame('still held', await refused(storage, living('a')), 'b');
      await storage.leaseStore.release(second);
      const third = await granted(storage, living('b'));
      expectTrue('the fence did not grow again', third.fence > second.fence);
    },
  },
  {
    name: 'a holder proven dead is replaced at once where the caller allows it',
    async run(bench) {
      const storage = await bench.open();
      const gone = dead('gone');
      if (gone === null) return;
      const first = await granted(storage, gone);
      const patient = await storage.leaseStore.acquire('run-1', living('a'), TTL_MS, {
        takeover: 'never',
      });
      expectSame('never', 'heldBy' in patient && patient.heldBy.id, 'gone');
      const second = await granted(storage, living('a'));
      expectTrue('the fence did not grow', second.fence > first.fence);
      await expectRefusal('the dead one', 'LEASE_LOST', () =>
        storage.leaseStore.renew(first, TTL_MS),
      );
      for (const [what, changed] of Object.entries({
        'another host': { host: 'another-host' },
        'another pid namespace': { pidNamespace: 'pid:[1]' },
        'an unknown pid namespace': { pidNamespace: 'unknown' },
      })) {
        const key = what.replaceAll(' ', '-');
        await granted(storage, { ...gone, ...changed }, key);
        expectSame(what, await refused(storage, living('a'), key), 'gone');
      }
    },
  },
  {
    name: 'of owners that race for a lease exactly one gets it',
    async run(bench) {
      const handles = await bench.openMany(6);
      for (let round = 0; round < 5; round += 1) {
        const outcomes = await Promise.all(
          handles.map((storage, place) =>
            storage.leaseStore.acquire(`run-${round}`, living(`owner-${place}`), TTL_MS, {
              takeover: 'proven-dead',
            }),
          ),
        );
        const grants = outcomes.filter((outcome) => 'fence' in outcome);
        expectSame(`grants of round ${round}`, grants.length, 1);
        const holders = outcomes.map((outcome) =>
          'fence' in outcome ? outcome.owner.id : outcome.heldBy.id,
        );
        expectSame(`holders of round ${round}`, new Set(holders).size, 1);
      }
    },
  },
  {
    name: 'keys are apart, may be any text, and bad requests are refused',
    async run(bench) {
      const storage = await bench.open();
      const keys = ['run-1', 'workspace:/tmp/é 😀', 'e\u0301', 'é', '__proto__'];
      for (const key of keys) await granted(storage, living(key), key);
      for (const key of keys) {
        expectSame(key, await refused(await bench.open(), living('x'), key), key);
      }
      await granted(await bench.open({ namespace: 'other' }), living('x'));
      for (const key of ['', 'a\0b', '\ud800', 'x'.repeat(10_000)]) {
        await expectRefusal(`key ${key.length}`, 'INVALID_STORED_VALUE', () =>
          granted(storage, living('a'), key),
        );
      }
      await expectRefusal('a lifetime of nothing', 'INVALID_OPTION', () =>
        storage.leaseStore.acquire('k', living('a'), 0, { takeover: 'never' }),
      );
      const unknown = { takeover: 'when-dead' } as unknown as AcquireOptions;
      await expectRefusal('an unknown takeover', 'INVALID_OPTION', () =>
        storage.leaseStore.acquire('k', living('a'), TTL_MS, unknown),
      );
    },
  },
  {
    name: 'a run with a held lease is not claimable',
    async run(bench) {
      const storage = await bench.open();
      const at = '2026-11-30T10:00:00.000Z';
      const event = { type: 'kit:happened', version: 1, timestamp: at, payload: null };
      const index = { status: 'running', graphId: 'g' } as const;
      const stream = { namespace: 'kit', streamId: 'run-1' };
      await storage.eventStore.append(stream, 0, [event], { index });
      const claimable = async (ms: number): Promise<number> =>
        (await storage.runIndex.claimable(new Date(ms).toISOString())).length;
      expectSame('free', await claimable(Date.parse(at)), 1);
      const grant = await granted(storage, living('a'));
      expectSame('held', await claimable(grant.expiresAt - 1), 0);
      expectSame('run out', await claimable(grant.expiresAt), 1);
      await storage.leaseStore.release(grant);
      expectSame('released', await claimable(grant.expiresAt - 1), 1);
    },
  },
];
