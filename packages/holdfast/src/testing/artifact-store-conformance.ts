/** The kit of artifact stores: exact receipts for bytes by digest, screened, within quotas. */
import { hashBytes } from '../base/digest.ts';
import type { ArtifactReference, ArtifactScope } from '../store/artifact-store.ts';
import type { RunStorage } from '../store/storage.ts';
import { artifactContentCases } from './artifact-content-cases.ts';
import { artifactQuotaCases } from './artifact-quota-cases.ts';
import { type ConformanceReport, requireConformance } from './conformance-report.ts';
import { expectSame, expectTrue } from './expectation.ts';
import {
  expectRefusal,
  kitArtifact,
  kitPolicy,
  reportOfStorage,
  type StorageCase,
  type StorageFactory,
} from './storage-fixture.ts';

const scope: ArtifactScope = { namespace: 'kit', runId: 'run-1' };

/**
 * Checks an artifact store against its port. Never throws for what the store does wrong.
 *
 * @example await runArtifactStoreConformance(factory)
 */
export function runArtifactStoreConformance(factory: StorageFactory): Promise<ConformanceReport> {
  return reportOfStorage([...cases, ...artifactQuotaCases, ...artifactContentCases], factory);
}

/**
 * Like `runArtifactStoreConformance`, but throws `CONFORMANCE_FAILED` naming every failure.
 *
 * @example await assertArtifactStoreConformance(() => ({ open: openMyStorage }));
 */
export async function assertArtifactStoreConformance(factory: StorageFactory): Promise<void> {
  requireConformance(await runArtifactStoreConformance(factory));
}

async function textAt(
  { artifactStore }: RunStorage,
  reference: ArtifactReference,
): Promise<string> {
  return new TextDecoder().decode(await artifactStore.read(scope, reference));
}

const cases: readonly StorageCase[] = [
  {
    name: 'bytes are named by their digest, copied in and copied out',
    async run(bench) {
      const storage = await bench.open();
      const bytes = Uint8Array.from([0, 255, 1, 254]);
      const written = storage.artifactStore.write(scope, kitArtifact(bytes));
      const digest = `sha256:${hashBytes(bytes)}`;
      bytes[0] = 9;
      const reference = await written;
      const wanted = { schemaVersion: 1, digest, byteLength: 4 };
      expectSame('the reference', reference, {
        ...wanted,
        mediaType: 'text/plain',
        purpose: 'test',
      });
      const copy = await storage.artifactStore.read(scope, reference);
      copy[0] = 7;
      for (const handle of [storage, await bench.open()]) {
        const bytesAgain = await handle.artifactStore.read(scope, reference);
        expectSame('the bytes', [...bytesAgain], [0, 255, 1, 254]);
      }
      const empty = await storage.artifactStore.write(scope, kitArtifact(''));
      expectSame('no bytes', (await storage.artifactStore.read(scope, empty)).byteLength, 0);
    },
  },
  {
    name: 'another byte is another artifact',
    async run(bench) {
      const storage = await bench.open();
      const content = 'x'.repeat(kitPolicy.maxArtifactBytes);
      const first = await storage.artifactStore.write(scope, kitArtifact(content));
      const changed = kitArtifact(`${content.slice(1)}y`);
      const other = await storage.artifactStore.write(scope, changed);
      expectTrue('another byte has the same digest', other.digest !== first.digest);
      expectSame('the first', await textAt(storage, first), content);
    },
  },
  {
    name: 'a check before the write gives its references and writes nothing',
    async run(bench) {
      const storage = await bench.open();
      const { artifactStore } = storage;
      await expectRefusal('no artifacts', 'INVALID_STORED_VALUE', () =>
        artifactStore.preflightWrite(scope, []),
      );
      const batch = [kitArtifact('one'), kitArtifact('two', { purpose: 'other' })];
      const predicted = await artifactStore.preflightWrite(scope, batch);
      for (const reference of predicted) {
        await expectRefusal('only predicted', 'ARTIFACT_NOT_FOUND', () =>
          artifactStore.read(scope, reference),
        );
      }
      await artifactStore.write(scope, kitArtifact('one', { purpose: 'a third' }));
      const [first] = predicted;
      if (first === undefined) return;
      await expectRefusal('the bytes, but no receipt', 'ARTIFACT_NOT_ADMITTED', () =>
        artifactStore.read(scope, first),
      );
      const written = [];
      for (const each of batch) written.push(await artifactStore.write(scope, each));
      expectSame('the references', written, predicted);
      expectSame('the bytes', await textAt(storage, first), 'one');
    },
  },
  {
    name: 'runs and namespaces are apart, and a deleted run is gone',
    async run(bench) {
      const { artifactStore } = await bench.open();
      const reference = await artifactStore.write(scope, kitArtifact('one'));
      const elsewhere = [
        { namespace: 'kit', runId: 'run-2' },
        { namespace: 'other', runId: 'run-1' },
      ];
      for (const other of elsewhere) {
        await expectRefusal('elsewhere', 'ARTIFACT_NOT_FOUND', () =>
          artifactStore.read(other, reference),
        );
        await artifactStore.write(other, kitArtifact('one'));
      }
      await artifactStore.deleteRun(scope);
      await expectRefusal('deleted', 'ARTIFACT_NOT_FOUND', () =>
        artifactStore.read(scope, reference),
      );
      for (const other of elsewhere) await artifactStore.read(other, reference);
      const other = { ...reference, purpose: 'another' };
      const again = await artifactStore.write(scope, kitArtifact('one', { purpose: 'another' }));
      expectSame('again', again, other);
      await expectRefusal('the receipt of before', 'ARTIFACT_NOT_ADMITTED', () =>
        artifactStore.read(scope, reference),
      );
    },
  },
  {
    name: 'a reference that is not the one returned is refused',
    async run(bench) {
      const { artifactStore } = await bench.open();
      const reference = await artifactStore.write(scope, kitArtifact('one'));
      for (const [what, forged] of Object.entries({
        'another length': { byteLength: 4 },
        'another media type': { mediaType: 'text/html' },
        'another purpose': { purpose: 'anything' },
      })) {
        await expectRefusal(what, 'ARTIFACT_NOT_ADMITTED', () =>
          artifactStore.read(scope, { ...reference, ...forged }),
        );
      }
      await expectRefusal('an unknown digest', 'ARTIFACT_NOT_FOUND', () =>
        artifactStore.read(scope, { ...reference, digest: `sha256:${'0'.repeat(64)}` }),
      );
      for (const [what, broken] of Object.entries({
        'no digest': { digest: 'sha256:zz' as const },
        'another version': { schemaVersion: 2 as 1 },
        'no length': { byteLength: -1 },
        'no purpose': { purpose: '' },
        'one more field': { note: 'mine' },
      })) {
        await expectRefusal(what, 'INVALID_STORED_VALUE', () =>
          artifactStore.read(scope, { ...reference, ...broken }),
        );
      }
      expectSame('itself', (await artifactStore.read(scope, { ...reference })).byteLength, 3);
    },
  },
];
