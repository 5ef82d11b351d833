/** The kit of artifacts must catch stores that are wrong in one way, by the case about it. */
import {
  type ArtifactReference,
  type ArtifactStore,
  defaultStoragePolicy,
  isHoldfastError,
  type NewArtifact,
  StorageError,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { runArtifactStoreConformance } from 'holdfast/testing';
import { describe, expect, it } from 'vitest';
import { failedCases, type Mutant, mutated } from './mutated-store.ts';

/** What any handle of a mutant is writing. */
const writing = new Set<string>();

function exactly(artifact: NewArtifact): NewArtifact {
  return { ...artifact, contentMode: 'exact' };
}

const artifactMutants: Readonly<Record<string, Mutant<ArtifactStore>>> = {
  'keeps the bytes of the caller': {
    caught: 'copied in and copied out',
    port: (real) => ({
      write: async (scope, artifact) => {
        await Promise.resolve();
        return real.write(scope, artifact);
      },
    }),
  },
  'gives its own bytes away': {
    caught: 'copied in and copied out',
    port: (real) => {
      const given = new Map<string, Uint8Array>();
      return {
        read: async (scope, reference) => {
          const bytes = given.get(reference.digest) ?? (await real.read(scope, reference));
          given.set(reference.digest, bytes);
          return bytes;
        },
      };
    },
  },
  'charges the same bytes for each purpose': {
    caught: 'a content counts once',
    port: (real) => ({
      write: async (scope, artifact) => {
        const reference = await real.write(scope, artifact);
        if (artifact.purpose === 'a third') throw new StorageError('STORAGE_LIMIT_EXCEEDED', '');
        return reference;
      },
    }),
  },
  'keeps the first receipt of a content only': {
    caught: 'a content counts once',
    port: (real) => {
      const first = new Map<string, ArtifactReference>();
      return {
        write: async (scope, artifact) => {
          const [reference] = await real.preflightWrite(scope, [artifact]);
          const known = first.get(reference?.digest ?? '');
          if (known !== undefined && reference !== undefined) return reference;
          const written = await real.write(scope, artifact);
          first.set(written.digest, written);
          return written;
        },
      };
    },
  },
  'deletes nothing': {
    caught: 'a deleted run is gone',
    port: () => ({ deleteRun: async () => {} }),
  },
  'shares artifacts between runs': {
    caught: 'runs and namespaces are apart',
    port: (real) => ({
      read: (scope, reference) => real.read({ ...scope, runId: 'run-1' }, reference),
      write: (scope, artifact) => real.write({ ...scope, runId: 'run-1' }, artifact),
    }),
  },
  'asks for no receipt': {
    caught: 'a reference that is not the one returned',
    port: (real) => {
      const given = new Map<string, ArtifactReference>();
      return {
        write: async (scope, artifact) => {
          const reference = await real.write(scope, artifact);
          given.set(reference.digest, reference);
          return reference;
        },
        read: (scope, reference) => {
          const { byteLength } = reference;
          return real.read(scope, { ...reference, ...given.get(reference.digest), byteLength });
        },
      };
    },
  },
  'believes the length of a reference': {
    caught: 'a reference that is not the one returned',
    port: (real) => ({
      read: async (scope, reference) => {
        for (let byteLength = 0; byteLength <= 64; byteLength += 1) {
          try {
            return await real.read(scope, { ...reference, byteLength });
          } catch (error) {
            if (!isHoldfastError(error, 'ARTIFACT_NOT_ADMITTED')) throw error;
          }
        }
        return real.read(scope, reference);
      },
    }),
  },
  'keeps the receipts of a deleted run': {
    caught: 'a deleted run is gone',
    port: (real) => {
      const given: ArtifactReference[] = [];
      return {
        write: async (scope, artifact) => {
          for (const { mediaType, purpose } of given) {
            await real.write(scope, { ...artifact, mediaType, purpose });
          }
          const reference = await real.write(scope, artifact);
          given.push(reference);
          return reference;
        },
      };
    },
  },
  'writes what it should only check': {
    caught: 'writes nothing',
    port: (real) => ({
      preflightWrite: (scope, artifacts) =>
        Promise.all(artifacts.map((artifact) => real.write(scope, artifact))),
    }),
  },
  'checks a batch one by one': {
    caught: 'counts as a whole',
    port: (real) => ({
      preflightWrite: async (scope, artifacts) => {
        const references: ArtifactReference[] = [];
        for (const artifact of artifacts) {
          references.push(...(await real.preflightWrite(scope, [artifact])));
        }
        return artifacts.length === 0 ? real.preflightWrite(scope, []) : references;
      },
    }),
  },
  'counts a content twice in a batch': {
    caught: 'counts as a whole',
    port: (real) => ({
      preflightWrite: async (scope, artifacts) => {
        const references = await real.preflightWrite(scope, artifacts);
        const bytes = references.reduce((sum, { byteLength }) => sum + byteLength, 0);
        if (bytes > 128) throw new StorageError('STORAGE_LIMIT_EXCEEDED', 'mutant');
        return references;
      },
    }),
  },
  'checks the quota, waits, then writes': {
    caught: 'exactly one gets it',
    options: ({ policy }) => ({ policy: { ...policy, maxTotalArtifactBytesPerRun: 4096 } }),
    port: (real) => {
      const quota = createMemoryRunStorage({
        namespace: 'kit',
        policy: { ...defaultStoragePolicy, maxArtifactBytes: 64, maxTotalArtifactBytesPerRun: 128 },
      }).artifactStore;
      return {
        write: async (scope, artifact) => {
          await quota.preflightWrite(scope, [artifact]);
          await new Promise((resolve) => setImmediate(resolve));
          const reference = await real.write(scope, artifact);
          await quota.write(scope, artifact);
          return reference;
        },
      };
    },
  },
  'refuses whoever comes second with a content': {
    caught: 'race with one content',
    port: (real) => ({
      write: async (scope, artifact) => {
        const copy = { ...artifact, bytes: Uint8Array.from(artifact.bytes) };
        const text = String(copy.bytes);
        if (writing.has(text)) throw new StorageError('STORE_BUSY', 'mutant');
        writing.add(text);
        await new Promise((resolve) => setImmediate(resolve));
        writing.delete(text);
        return real.write(scope, copy);
      },
    }),
  },
  'keeps what is sensitive': {
    caught: 'marked as sensitive',
    port: (real) => ({
      write: (scope, { sensitive: _, ...artifact }) => real.write(scope, artifact),
    }),
  },
  'takes state for exact bytes': {
    caught: 'searched as it is decoded',
    port: (real) => ({
      write: (scope, artifact) => {
        const { contentMode } = artifact;
        return real.write(scope, contentMode === 'state' ? exactly(artifact) : artifact);
      },
    }),
  },
  'searches the parsed value of state only': {
    caught: 'searched as it is decoded',
    port: (real) => ({
      write: (scope, artifact) => {
        if (artifact.contentMode !== 'state') return real.write(scope, artifact);
        try {
          const text = new TextDecoder('utf-8', { fatal: true }).decode(artifact.bytes);
          const bytes = new TextEncoder().encode(JSON.stringify(JSON.parse(text)));
          return real.preflightWrite(scope, [{ ...artifact, bytes }]).then(() => {
            return real.write(scope, exactly(artifact));
          });
        } catch {
          return real.write(scope, artifact);
        }
      },
    }),
  },
  'refuses free text in place of redacting it': {
    caught: 'free text is redacted',
    port: (real) => ({
      write: (scope, artifact) => real.write(scope, exactly(artifact)),
    }),
  },
  'says the length before redaction': {
    caught: 'free text is redacted',
    port: (real) => ({
      write: async (scope, artifact) => {
        const reference = await real.write(scope, artifact);
        return { ...reference, byteLength: artifact.bytes.byteLength };
      },
    }),
  },
  'looks for no secrets': {
    caught: 'are refused in every form',
    options: () => ({ knownSecrets: [] }),
  },
  'reads nothing that holds a new secret': {
    caught: 'leave what is stored readable',
    port: (real, { knownSecrets }) => ({
      read: async (scope, reference) => {
        const bytes = await real.read(scope, reference);
        const text = new TextDecoder().decode(bytes);
        if (knownSecrets.some((secret) => text.includes(secret))) {
          throw new StorageError('KNOWN_SECRET', 'mutant');
        }
        return bytes;
      },
    }),
  },
};

describe('the kit of artifacts catches a store that', () => {
  it.each(Object.entries(artifactMutants))('%s', async (_, mutant) => {
    const failed = await failedCases(runArtifactStoreConformance, mutated('artifactStore', mutant));
    expect(failed).toContainEqual(expect.stringContaining(mutant.caught));
  });
});
