/** Artifacts whose bytes were changed, whose store is old, was moved, or is shared by processes. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ArtifactReference,
  approval,
  compileGraph,
  createGraphExecutor,
  defaultStoragePolicy,
  defineFlow,
  flowDefinition,
  flowGraphType,
  flowNodes,
  isHoldfastError,
  type LoadedRunDefinition,
  loadRunDefinition,
  type NewArtifact,
  startRun,
  task,
} from 'holdfast';
import { createLocalRunStorage, type LocalRunStorage } from 'holdfast/storage/local';
import { createMemoryBacking, createMemoryRunStorage } from 'holdfast/storage/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSqliteDriver } from '../../src/adapters/sqlite/load-driver.ts';
import { newDirectory, removeDirectory } from './backings.ts';
import { codeOf } from './events.ts';

const scope = { namespace: 'tests', runId: 'run-1' };
let directory = '';
const opened: LocalRunStorage[] = [];

beforeEach(() => {
  directory = newDirectory();
});

afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
  removeDirectory(directory);
});

function open(name: string): LocalRunStorage {
  const storage = createLocalRunStorage({ directory: join(directory, name), namespace: 'tests' });
  opened.push(storage);
  return storage;
}

/** Changes a closed store behind its back. */
function edit(name: string, sql: string): void {
  const connection = loadSqliteDriver().open(join(directory, name, 'holdfast.db'));
  connection.exec(sql);
  connection.close();
}

function artifact(text: string, more: Partial<NewArtifact> = {}): NewArtifact {
  return { bytes: Buffer.from(text), mediaType: 'text/plain', purpose: 'test', ...more };
}

describe('an artifact of a local store', () => {
  it.each([
    ['other bytes of the same length', "update artifact set bytes = cast('two' as blob)"],
    ['cut bytes', "update artifact set bytes = cast('on' as blob)"],
    ['no bytes', "update artifact set bytes = cast('' as blob)"],
  ])('with %s is refused when it is read, until it is written again', async (_, sql) => {
    const storage = open('edited');
    const reference = await storage.artifactStore.write(scope, artifact('one'));
    await storage.close();
    edit('edited', sql);
    expect(await codeOf(() => storage.artifactStore.read(scope, reference))).toBe(
      'ARTIFACT_INTEGRITY',
    );
    await storage.artifactStore.write(scope, artifact('one'));
    expect(await storage.artifactStore.read(scope, reference)).toEqual(
      new Uint8Array(Buffer.from('one')),
    );
  });

  it('without its receipt is not admitted', async () => {
    const storage = open('edited');
    const reference = await storage.artifactStore.write(scope, artifact('one'));
    await storage.close();
    edit('edited', 'delete from artifact_receipt');
    expect(await codeOf(() => storage.artifactStore.read(scope, reference))).toBe(
      'ARTIFACT_NOT_ADMITTED',
    );
    await storage.artifactStore.write(scope, artifact('one'));
    expect(await codeOf(() => storage.artifactStore.read(scope, reference))).toBe('none');
  });

  it('is deleted with its run only; the events stay', async () => {
    const storage = open('deleted');
    const stream = { namespace: 'tests', streamId: 'run-1' };
    const event = { type: 'a:b', version: 1, timestamp: '2026-01-01T00:00:00.000Z', payload: 1 };
    await storage.eventStore.append(stream, 0, [event]);
    const reference = await storage.artifactStore.write(scope, artifact('one'));
    await storage.artifactStore.deleteRun(scope);
    expect(await storage.eventStore.end(stream)).toBe(1);
    expect(await codeOf(() => storage.artifactStore.read(scope, reference))).toBe(
      'ARTIFACT_NOT_FOUND',
    );
  });

  it('has one quota in all storages over a file, and none left when it is used up', async () => {
    const policy = {
      ...defaultStoragePolicy,
      maxArtifactBytes: 10,
      maxTotalArtifactBytesPerRun: 55,
    };
    const handles = [1, 2, 3].map(() => {
      const storage = createLocalRunStorage({ directory, namespace: 'tests', policy });
      opened.push(storage);
      return storage;
    });
    const codes = await Promise.all(
      Array.from({ length: 12 }, (_, place) =>
        codeOf(
          async () =>
            await handles[place % 3]?.artifactStore.write(scope, artifact(`${place}`.padEnd(10))),
        ),
      ),
    );
    expect(codes.filter((code) => code === 'none')).toHaveLength(5);
    expect(new Set(codes)).toEqual(new Set(['none', 'STORAGE_LIMIT_EXCEEDED']));
  });
});

it('an artifact in memory whose bytes were changed is refused when it is read', async () => {
  const backing = createMemoryBacking();
  const storage = createMemoryRunStorage({ namespace: 'tests', backing });
  const reference = await storage.artifactStore.write(scope, artifact('one'));
  for (const run of backing.artifacts.values()) {
    for (const { bytes } of run.values()) bytes[0] = 0;
  }
  expect(await codeOf(() => storage.artifactStore.read(scope, reference))).toBe(
    'ARTIFACT_INTEGRITY',
  );
});

it('an artifact whose digest holds a known secret is refused: no event could name it', async () => {
  const digest = createHash('sha256').update('one').digest('hex');
  const knownSecrets = [digest.slice(20, 40)];
  const storage = createMemoryRunStorage({ namespace: 'tests', knownSecrets });
  expect(await codeOf(() => storage.artifactStore.write(scope, artifact('one')))).toBe(
    'KNOWN_SECRET',
  );
});

/** What version 1 of the file had, and has not now. */
const TO_FIRST_SCHEMA =
  'drop table artifact_receipt; drop table artifact_use; pragma user_version = 1';

describe('a store of the first version', () => {
  async function oldStore(name: string): Promise<ArtifactReference> {
    const storage = open(name);
    const reference = await storage.artifactStore.write(scope, artifact('one'));
    await storage.artifactStore.write(scope, artifact('two'));
    await storage.artifactStore.write({ ...scope, runId: 'run-2' }, artifact('one'));
    await storage.close();
    edit(name, TO_FIRST_SCHEMA);
    return reference;
  }

  it('gives its artifacts for their digest and length, which is all that it kept', async () => {
    const reference = await oldStore('old');
    const { artifactStore } = open('old');
    const read = (more: Partial<ArtifactReference>) =>
      codeOf(() => artifactStore.read(scope, { ...reference, ...more }));
    expect(await read({})).toBe('none');
    expect(await read({ mediaType: 'application/json', purpose: 'as its event says' })).toBe(
      'none',
    );
    expect(await read({ byteLength: 4 })).toBe('ARTIFACT_NOT_ADMITTED');
    expect(await read({ digest: `sha256:${'0'.repeat(64)}` })).toBe('ARTIFACT_NOT_FOUND');
  });

  it('keeps receipts for what is written from then on, and counts what it held', async () => {
    await oldStore('old');
    const policy = { ...defaultStoragePolicy, maxArtifactBytes: 4, maxTotalArtifactBytesPerRun: 9 };
    const storage = createLocalRunStorage({
      directory: join(directory, 'old'),
      namespace: 'tests',
      policy,
    });
    opened.push(storage);
    const { artifactStore } = storage;
    expect(await codeOf(() => artifactStore.write(scope, artifact('four')))).toBe(
      'STORAGE_LIMIT_EXCEEDED',
    );
    const reference = await artifactStore.write(scope, artifact('new'));
    const forged = { ...reference, purpose: 'another' };
    expect(await codeOf(() => artifactStore.read(scope, forged))).toBe('ARTIFACT_NOT_ADMITTED');
    expect(await codeOf(() => artifactStore.read(scope, reference))).toBe('none');
  });

  it('is upgraded once, when several open it at a time', async () => {
    const reference = await oldStore('old');
    const handles = [1, 2, 3, 4].map(() => open('old'));
    const codes = await Promise.all(
      handles.map(({ artifactStore }) => codeOf(() => artifactStore.read(scope, reference))),
    );
    expect(codes).toEqual(['none', 'none', 'none', 'none']);
  });
});

/** So small that the plan, the input and the result of a run are artifacts. */
const policy = {
  ...defaultStoragePolicy,
  maxEventPayloadBytes: 4 * 1024,
  maxAppendBatchBytes: 16 * 1024,
};
const input = { text: 'x'.repeat(2_000) };
const { flow, functions } = defineFlow({
  id: 'ask',
  nodes: {
    large: task(() => 'y'.repeat(10_000), { largeResult: 'artifact' }),
    ok: approval({ prompt: 'Go?' }),
  },
});
const graph = compileGraph(flowGraphType, flowDefinition(flow));
const nodes = flowNodes(flow, functions);

function openSmall(name: string): LocalRunStorage {
  const storage = createLocalRunStorage({
    directory: join(directory, name),
    namespace: 'tests',
    policy,
  });
  opened.push(storage);
  return storage;
}

/** The same value, each object's keys in the opposite order. */
function backwards(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(backwards);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toReversed();
  return Object.fromEntries(entries.map(([key, part]) => [key, backwards(part)]));
}

async function pausedRun(storage: LocalRunStorage) {
  await startRun(storage, { runId: 'run-1', graph, input });
  const executor = await createGraphExecutor({ runId: 'run-1', graph, storage, nodes });
  const paused = await executor.run();
  await storage.close();
  return paused;
}

describe.each(['moved', 'copied'])('a directory that was %s', (how) => {
  it('opens where it stands now; its runs and artifacts are read and go on', async () => {
    const paused = await pausedRun(openSmall('here'));
    mkdirSync(join(directory, 'there'));
    const target = join(directory, 'there', 'runs');
    if (how === 'moved') renameSync(join(directory, 'here'), target);
    else cpSync(join(directory, 'here'), target, { recursive: true });

    const storage = openSmall('there/runs');
    const { definition, resolvedInputs } = await loadRunDefinition(storage, 'run-1');
    for (const part of ['resolvedPlan', 'resolvedInputs'] as const) {
      expect(definition[part]).toHaveProperty('artifact.digest');
    }
    expect(resolvedInputs).toEqual(input);
    const executor = await createGraphExecutor({ runId: 'run-1', graph, storage, nodes });
    const again = await executor.run();
    expect(again).toEqual(paused);
    if (again.kind !== 'pause') throw new Error('it is not paused');
    await executor.answer(again.pauses[0]?.pauseId ?? '', true, { by: 'Ada' });
    const ended = await executor.run();
    if (ended.kind !== 'complete') throw new Error(JSON.stringify(ended));
    const output = ended.output as unknown as {
      readonly nodes: { readonly large: { readonly artifact: ArtifactReference } };
    };
    const bytes = await storage.artifactStore.read(scope, output.nodes.large.artifact);
    expect(JSON.parse(Buffer.from(bytes).toString())).toBe('y'.repeat(10_000));
  });
});

describe('the artifacts that a run is made of are checked when it is loaded', () => {
  const plan = (sql: string) =>
    sql.replace('PLAN', "(select artifact from artifact_receipt where purpose = 'resolved-plan')");

  it.each([
    [
      'other bytes',
      "update artifact set bytes = cast('{}' as blob) where id = PLAN",
      'ARTIFACT_INTEGRITY',
    ],
    ['no artifact', 'delete from artifact where id = PLAN', 'ARTIFACT_NOT_FOUND'],
    [
      'no receipt',
      "delete from artifact_receipt where purpose = 'resolved-plan'",
      'ARTIFACT_NOT_ADMITTED',
    ],
  ])('a plan with %s is refused by name', async (_, sql, code) => {
    const storage = openSmall('edited');
    await pausedRun(storage);
    edit('edited', plan(sql));
    expect(await codeOf(() => loadRunDefinition(storage, 'run-1'))).toBe(code);
    expect(await codeOf(() => createGraphExecutor({ runId: 'run-1', graph, storage, nodes }))).toBe(
      code,
    );
  });

  /** A paused run whose plan is stored as other bytes, of which its record has the reference. */
  async function runWithPlan(
    name: string,
    textOf: (plan: LoadedRunDefinition['resolvedPlan']['plan']) => string,
  ): Promise<LocalRunStorage> {
    const storage = openSmall(name);
    await pausedRun(storage);
    const { definition, resolvedPlan } = await loadRunDefinition(storage, 'run-1');
    if (!('artifact' in definition.resolvedPlan)) throw new Error('the plan is inline');
    const { digest, byteLength } = definition.resolvedPlan.artifact;
    const reference = await storage.artifactStore.write(scope, {
      bytes: Buffer.from(textOf(resolvedPlan.plan)),
      mediaType: 'application/json',
      purpose: 'resolved-plan',
    });
    expect(reference.digest).not.toBe(digest);
    await storage.close();
    edit(
      name,
      // The digest stands there as that of the plan too, which stays.
      `update log set body = replace(
        replace(body, '"digest":"${digest}"', '"digest":"${reference.digest}"'),
        '"byteLength":${byteLength}', '"byteLength":${reference.byteLength}') where seq = 1`,
    );
    return storage;
  }

  it.each<readonly [string, (plan: unknown) => string]>([
    ['its keys in another order', (plan) => JSON.stringify(backwards(plan))],
    ['spaces between', (plan) => JSON.stringify(plan, null, 2)],
    ['its numbers in another form', (plan) => JSON.stringify(plan).replace(/:(\d+)\b/g, ':$1.0e0')],
  ])('the same plan written with %s is the same plan', async (_, textOf) => {
    const storage = await runWithPlan('rewritten', textOf);
    const { definition, resolvedPlan } = await loadRunDefinition(storage, 'run-1');
    expect(resolvedPlan.digest).toBe(definition.planDigest);
    const executor = await createGraphExecutor({ runId: 'run-1', graph, storage, nodes });
    expect((await executor.run()).kind).toBe('pause');
  });

  it('a plan that was edited and stored as its own artifact is refused by name', async () => {
    const storage = await runWithPlan('edited', (plan) => {
      const edited = structuredClone(plan) as { bounds: { maxFanOut: unknown } };
      edited.bounds.maxFanOut = { kind: 'known', value: 1_000 };
      return JSON.stringify(edited);
    });
    const refusal = await loadRunDefinition(storage, 'run-1').then(
      () => null,
      (error: unknown) => error,
    );
    if (!isHoldfastError(refusal)) throw new Error('it was loaded');
    expect(refusal.message).toMatch(/plan/);
    expect(['INVALID_STORED_VALUE', 'INVALID_GRAPH']).toContain(refusal.code);
  });
});
