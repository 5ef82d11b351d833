/** The kit of artifact stores: bytes by digest, within quotas. */
import { hashBytes } from '../base/digest.ts';
import type { ArtifactReference, ArtifactScope, NewArtifact } from '../store/artifact-store.ts';
import type { RunStorage } from '../store/storage.ts';
import { type ConformanceReport, requireConformance } from './conformance-report.ts';
import {
  expectRefusal,
  expectSame,
  expectTrue,
  isStorageRefusal,
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
  return reportOfStorage(cases, factory);
}

/**
 * Like `runArtifactStoreConformance`, but throws `CONFORMANCE_FAILED` naming every failure.
 *
 * @example await assertArtifactStoreConformance(() => ({ open: openMyStorage }));
 */
export async function assertArtifactStoreConformance(factory: StorageFactory): Promise<void> {
  requireConformance(await runArtifactStoreConformance(factory));
}

function artifact(content: string | Uint8Array, more: Partial<NewArtifact> = {}): NewArtifact {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return { bytes, mediaType: 'text/plain', purpose: 'test', ...more };
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
      const written = storage.artifactStore.write(scope, artifact(bytes));
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
      const empty = await storage.artifactStore.write(scope, artifact(''));
      expectSame('no bytes', (await storage.artifactStore.read(scope, empty)).byteLength, 0);
    },
  },
  {
    name: 'the same content is stored once, another byte is another artifact',
    async run(bench) {
      const storage = await bench.open();
      const content = 'x'.repeat(kitPolicy.maxArtifactBytes);
      const first = await storage.artifactStore.write(scope, artifact(content));
      for (const purpose of ['test', 'another', 'a third']) {
        const again = await storage.artifactStore.write(scope, artifact(content, { purpose }));
        expectSame('the reference', again, { ...first, purpose });
      }
      const other = await storage.artifactStore.write(scope, artifact(`${content.slice(1)}y`));
      expectTrue('another byte has the same digest', other.digest !== first.digest);
      expectSame('the first', await textAt(storage, first), content);
    },
  },
  {
    name: 'runs and namespaces are apart, and a deleted run is gone',
    async run(bench) {
      const storage = await bench.open();
      const { artifactStore } = storage;
      const reference = await artifactStore.write(scope, artifact('one'));
      const elsewhere = [
        { namespace: 'kit', runId: 'run-2' },
        { namespace: 'other', runId: 'run-1' },
      ];
      for (const other of elsewhere) {
        await expectRefusal('elsewhere', 'ARTIFACT_NOT_FOUND', () =>
          artifactStore.read(other, reference),
        );
        await artifactStore.write(other, artifact('one'));
      }
      await artifactStore.deleteRun(scope);
      await expectRefusal('deleted', 'ARTIFACT_NOT_FOUND', () =>
        artifactStore.read(scope, reference),
      );
      for (const other of elsewhere) await artifactStore.read(other, reference);
      expectSame('again', await artifactStore.write(scope, artifact('one')), reference);
    },
  },
  {
    name: 'an artifact and all artifacts of a run have limits',
    async run(bench) {
      const storage = await bench.open();
      const { artifactStore } = storage;
      const size = kitPolicy.maxArtifactBytes;
      await expectRefusal('one artifact', 'STORAGE_LIMIT_EXCEEDED', () =>
        artifactStore.write(scope, artifact('x'.repeat(size + 1))),
      );
      const first = await artifactStore.write(scope, artifact('a'.repeat(size)));
      await artifactStore.write(scope, artifact('b'.repeat(size)));
      await expectRefusal('one byte more', 'STORAGE_LIMIT_EXCEEDED', () =>
        artifactStore.write(scope, artifact('c')),
      );
      expectSame(
        'held already',
        await artifactStore.write(scope, artifact('a'.repeat(size))),
        first,
      );
      await artifactStore.deleteRun(scope);
      await artifactStore.write(scope, artifact('c'));
    },
  },
  {
    name: 'of writers that race for the last room exactly one gets it',
    async run(bench) {
      const handles = await bench.openMany(4);
      const size = kitPolicy.maxArtifactBytes;
      await handles[0]?.artifactStore.write(scope, artifact('-'.repeat(size)));
      const outcomes = await Promise.all(
        handles.map(async ({ artifactStore }, place) => {
          try {
            return await artifactStore.write(scope, artifact(`${place}`.repeat(size)));
          } catch (error) {
            if (isStorageRefusal(error, 'STORAGE_LIMIT_EXCEEDED')) return null;
            throw error;
          }
        }),
      );
      expectSame('how many', outcomes.filter((outcome) => outcome !== null).length, 1);
      for (const [place, reference] of outcomes.entries()) {
        const handle = handles[3 - place];
        if (reference === null || handle === undefined) continue;
        expectSame('the bytes', await textAt(handle, reference), `${place}`.repeat(size));
      }
    },
  },
  {
    name: 'a reference that is not the stored one is refused',
    async run(bench) {
      const { artifactStore } = await bench.open();
      const reference = await artifactStore.write(scope, artifact('one'));
      await expectRefusal('another length', 'ARTIFACT_INTEGRITY', () =>
        artifactStore.read(scope, { ...reference, byteLength: 4 }),
      );
      await expectRefusal('an unknown digest', 'ARTIFACT_NOT_FOUND', () =>
        artifactStore.read(scope, { ...reference, digest: `sha256:${'0'.repeat(64)}` }),
      );
      await expectRefusal('no digest', 'INVALID_STORED_VALUE', () =>
        artifactStore.read(scope, { ...reference, digest: 'sha256:zz' }),
      );
    },
  },
  {
    name: 'bad labels, names and known secrets are refused',
    async run(bench) {
      const secret = 's3cret "value"';
      const { artifactStore } = await bench.open({ knownSecrets: [secret] });
      for (const [what, changed] of Object.entries({
        'no media type': { mediaType: 'text' },
        'NUL in it': { mediaType: 'text/pl\0ain' },
        'a long one': { mediaType: `text/${'x'.repeat(300)}` },
        'no purpose': { purpose: '' },
        'a long purpose': { purpose: 'ü'.repeat(257) },
      })) {
        await expectRefusal(what, 'INVALID_STORED_VALUE', () =>
          artifactStore.write(scope, artifact('x', changed)),
        );
      }
      for (const runId of ['', 'a/b', '__proto__', 'a\0b']) {
        await expectRefusal(`run ${runId}`, 'INVALID_STORED_VALUE', () =>
          artifactStore.write({ ...scope, runId }, artifact('x')),
        );
      }
      for (const hidden of [secret, JSON.stringify({ secret }), btoa(`:${secret}`)]) {
        await expectRefusal('a secret in bytes', 'KNOWN_SECRET', () =>
          artifactStore.write(scope, artifact(hidden)),
        );
      }
      await expectRefusal('a secret purpose', 'KNOWN_SECRET', () =>
        artifactStore.write(scope, artifact('x', { purpose: `the ${secret}` })),
      );
    },
  },
];
