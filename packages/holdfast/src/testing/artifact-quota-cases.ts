/** Cases of the artifact store kit: how much a run may hold, and who gets the last room. */
import type { ArtifactReference, ArtifactScope } from '../store/artifact-store.ts';
import { expectSame } from './expectation.ts';
import {
  expectRefusal,
  isStorageRefusal,
  kitArtifact,
  kitPolicy,
  type StorageCase,
} from './storage-fixture.ts';

const scope: ArtifactScope = { namespace: 'kit', runId: 'run-1' };
const size = kitPolicy.maxArtifactBytes;

export const artifactQuotaCases: readonly StorageCase[] = [
  {
    name: 'an artifact and all artifacts of a run have limits',
    async run(bench) {
      const { artifactStore } = await bench.open();
      await expectRefusal('one artifact', 'STORAGE_LIMIT_EXCEEDED', () =>
        artifactStore.write(scope, kitArtifact('x'.repeat(size + 1))),
      );
      const first = await artifactStore.write(scope, kitArtifact('a'.repeat(size)));
      await artifactStore.write(scope, kitArtifact('b'.repeat(size)));
      await expectRefusal('one byte more', 'STORAGE_LIMIT_EXCEEDED', () =>
        artifactStore.write(scope, kitArtifact('c')),
      );
      expectSame(
        'held already',
        await artifactStore.write(scope, kitArtifact('a'.repeat(size))),
        first,
      );
      await artifactStore.deleteRun(scope);
      await artifactStore.write(scope, kitArtifact('c'.repeat(size)));
      await artifactStore.write(scope, kitArtifact('d'.repeat(size)));
    },
  },
  {
    name: 'a content counts once, whatever it is for',
    async run(bench) {
      const { artifactStore } = await bench.open();
      const content = 'x'.repeat(size);
      const first = await artifactStore.write(scope, kitArtifact(content));
      const references: ArtifactReference[] = [];
      for (const purpose of ['test', 'another', 'a third', 'a fourth']) {
        const again = await artifactStore.write(scope, kitArtifact(content, { purpose }));
        expectSame('the reference', again, { ...first, purpose });
        references.push(again);
      }
      // There is room for one more, so none of them was counted.
      await artifactStore.write(scope, kitArtifact(`${content.slice(1)}y`));
      for (const reference of references) {
        expectSame('each', (await artifactStore.read(scope, reference)).byteLength, size);
      }
    },
  },
  {
    name: 'a batch that is only checked counts as a whole',
    async run(bench) {
      const { artifactStore } = await bench.open();
      const [one, two, three] = ['a', 'b', 'c'].map((letter) => kitArtifact(letter.repeat(size)));
      if (one === undefined || two === undefined || three === undefined) return;
      const same = { ...two, purpose: 'another' };
      await artifactStore.preflightWrite(scope, [one, two, one, same]);
      await expectRefusal('all three', 'STORAGE_LIMIT_EXCEEDED', () =>
        artifactStore.preflightWrite(scope, [one, two, three]),
      );
      await artifactStore.write(scope, one);
      await artifactStore.preflightWrite(scope, [one, two]);
      await expectRefusal('beside what is held', 'STORAGE_LIMIT_EXCEEDED', () =>
        artifactStore.preflightWrite(scope, [two, three]),
      );
      await artifactStore.write(scope, two);
      await artifactStore.preflightWrite(scope, [one, same]);
      await expectRefusal('one more', 'STORAGE_LIMIT_EXCEEDED', () =>
        artifactStore.preflightWrite(scope, [kitArtifact('c')]),
      );
    },
  },
  {
    name: 'of writers that race for the last room exactly one gets it',
    async run(bench) {
      const handles = await bench.openMany(4);
      await handles[0]?.artifactStore.write(scope, kitArtifact('-'.repeat(size)));
      const outcomes = await Promise.all(
        handles.map(async ({ artifactStore }, place) => {
          try {
            return await artifactStore.write(scope, kitArtifact(`${place}`.repeat(size)));
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
        const bytes = await handle.artifactStore.read(scope, reference);
        expectSame('the bytes', new TextDecoder().decode(bytes), `${place}`.repeat(size));
      }
    },
  },
  {
    name: 'writers that race with one content all get their receipts, and it counts once',
    async run(bench) {
      const handles = await bench.openMany(4);
      const references = await Promise.all(
        handles.map(({ artifactStore }, place) =>
          artifactStore.write(
            scope,
            kitArtifact('x'.repeat(size), { purpose: `for ${place % 2}` }),
          ),
        ),
      );
      for (const [place, reference] of references.entries()) {
        expectSame('the purpose', reference.purpose, `for ${place % 2}`);
        const bytes = await handles[3 - place]?.artifactStore.read(scope, reference);
        expectSame('the bytes', bytes?.byteLength, size);
      }
      const [first] = handles;
      await first?.artifactStore.write(scope, kitArtifact('y'.repeat(size)));
    },
  },
];
