/** Seed 002, "Check the engines": what is checked, in which order, and what a failure leads to. */
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { EngineError, engineNode, readRunPreflight, verifyRun } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import {
  failing,
  pauseOf,
  payloads,
  RUN,
  STREAM,
  scratch,
  seatedAt,
  targetOf,
  worldOf,
} from './world.ts';

const A = 'cli/p/a';
const B = 'cli/p/b';
const OTHER = 'api/q/b';
const ONE = { lanes: { one: { targets: [A] } } } as const;
const UNKNOWN = { code: 'PREFLIGHT_PAUSED', reason: expect.stringContaining('unknown') };

describe('the order of checks', () => {
  test('static checks come before live ones, and all checks before any node', async () => {
    const world = await worldOf({
      lanes: {
        one: { targets: [A, B], nodes: ['x', 'y'] },
        two: { targets: [OTHER], nodes: ['z'] },
      },
    });
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
    expect(world.calls).toEqual([
      `static ${A} x`,
      `static ${A} y`,
      `static ${B} x`,
      `static ${B} y`,
      `static ${OTHER} z`,
      `live ${A}`,
      `live ${OTHER}`,
      `ordinary ${A} x`,
      `ordinary ${A} y`,
      `ordinary ${OTHER} z`,
    ]);
  });

  test('a static check asks with the configuration of the node, without a prompt', async () => {
    const directory = scratch();
    const world = await worldOf({
      lanes: { one: { targets: [A] } },
      bindings: {
        one: engineNode({
          prompt: () => 'Never asked of a check.',
          system: 'Be brief.',
          permissions: ['read'],
          scratchDirectory: directory,
          callTokens: { mode: 'observed', tokens: 99 },
          timeoutMs: 1_234,
        }),
      },
    });
    await (await world.open()).run();
    const [asked] = world.engines[A]?.admissions ?? [];
    const [probe] = (await world.events()).filter(({ type }) => type === 'preflight:probe-started');
    expect(asked).toEqual({
      model: 'a',
      tools: ['read'],
      allowedTools: ['read'],
      system: 'Be brief.',
      cwd: directory,
      workspaceMode: 'none',
      maxTokens: 99,
      timeoutMs: 1_234,
      timeoutGraceMs: 5_000,
      attempt: { runId: RUN, attemptId: probe?.id, leafId: probe?.id, path: [], label: 'one' },
    });
  });

  test('a live check is one call without tools and workspace, with its own purpose', async () => {
    const world = await worldOf({ lanes: { one: { targets: [A] } }, timeoutMs: 777 });
    await (await world.open()).run();
    const [asked] = world.engines[A]?.calls ?? [];
    expect(asked).toMatchObject({
      purpose: 'preflight',
      tools: [],
      allowedTools: [],
      workspaceMode: 'none',
      maxTokens: 16,
      timeoutMs: 777,
      cwd: world.scratch,
    });
  });

  test('a lane whose policy skips the live check is called by its nodes only', async () => {
    const world = await worldOf({ lanes: { one: { targets: [A], live: 'skip' } } });
    await (await world.open()).run();
    expect(world.calls).toEqual([`static ${A} one`, `ordinary ${A} one`]);
  });

  test('live checks never overlap', async () => {
    let open = 0;
    let most = 0;
    const answer = async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return 'ready';
    };
    const world = await worldOf(
      { lanes: { one: { targets: [A] }, two: { targets: [OTHER] } } },
      { [A]: { live: [answer] }, [OTHER]: { live: [answer] } },
    );
    await (await world.open()).run();
    expect(world.calls.filter((call) => call.startsWith('live'))).toHaveLength(2);
    expect(most).toBe(1);
  });

  test('a plan without a policy runs as ever, and its record knows of no checks', async () => {
    const world = await worldOf({ lanes: { one: { targets: [A] } }, isUnchecked: true });
    await (await world.open({ preflightScratchDirectory: undefined })).run();
    expect(world.calls).toEqual([`ordinary ${A} one`]);
    expect((await world.types()).filter((type) => type.startsWith('preflight:'))).toEqual([]);
    expect(await readRunPreflight(world.storage, RUN)).toMatchObject({ phase: 'disabled' });
  });

  test('a run with checks is verified from its record, whatever came of it', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A, B] } } },
      { [A]: { live: [failing('quota')] } },
    );
    await (await world.open()).run();
    await verifyRun(world.storage, { runId: RUN, graph: world.graph });
    const dead = await worldOf({ lanes: { one: { targets: [A] } } }, { [A]: { admit: 'auth' } });
    await (await dead.open()).run();
    await verifyRun(dead.storage, { runId: RUN, graph: dead.graph });
  });
});

describe('engines that cannot be checked without a call', () => {
  test('a lane that blocks them never uses such a target', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A, OTHER], nodes: ['x', 'y'] } } },
      { [A]: { admit: 'unsupported' } },
    );
    await (await world.open()).run();
    expect(world.calls).toEqual([
      `static ${OTHER} x`,
      `static ${OTHER} y`,
      `live ${OTHER}`,
      `ordinary ${OTHER} x`,
      `ordinary ${OTHER} y`,
    ]);
  });

  test('a blocked fallback is not used when the effective target dies later', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A, OTHER], live: 'skip' } }, bindings: {} },
      { [OTHER]: { admit: 'unsupported' } },
    );
    const executor = await world.open({
      engines: [
        { target: targetOf(A), engine: { ...dying('auth'), admit: async () => seatedAt(A) } },
        { target: targetOf(OTHER), engine: world.engines[OTHER] ?? dying('auth') },
      ],
    });
    expect(await executor.run()).toMatchObject({ kind: 'fail', code: 'DAG_NODE_FAILED' });
    expect(world.calls).toEqual([]);
  });

  test('a lane that allows them takes such a target, and a live check proves it', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A], unsupportedStatic: 'allow' } } },
      { [A]: { admit: 'unsupported' } },
    );
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
    expect(world.calls).toEqual([`live ${A}`, `ordinary ${A} one`]);
  });
});

describe('a failed check that retires nothing', () => {
  test.each(['rate-limit', 'transient', 'timeout', 'unknown', 'aborted'] as const)(
    '%s: the run pauses with nothing dispatched, says so again, and probes nothing meanwhile',
    async (kind) => {
      const world = await worldOf(
        { lanes: { one: { targets: [A, B] } } },
        { [A]: { live: [failing(kind)] } },
      );
      const executor = await world.open();
      const paused = await executor.run();
      expect(paused).toMatchObject({ kind: 'pause', code: 'PREFLIGHT_PAUSED', pauses: [] });
      expect(paused).toMatchObject({ reason: expect.stringContaining(kind) });
      const calls = [...world.calls];
      expect(await executor.run()).toEqual(paused);
      expect(await (await world.open()).run()).toEqual(paused);
      expect(await (await world.open()).resume('dag/one/1')).toEqual(paused);
      expect(world.calls).toEqual(calls);
      expect(await world.types()).not.toContain('graph:node-dispatched');
      expect(await world.storage.runIndex.get(RUN)).toMatchObject({ status: 'paused' });
      expect((await executor.view()).status).toBe('paused');
    },
  );

  test('an untyped error is unknown, and an answer without text is none', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A] } } },
      { [A]: { live: [() => Promise.reject(new TypeError('odd')), '  '] } },
    );
    const first = pauseOf(await (await world.open()).run());
    const second = await (await world.open()).resume(first);
    expect(second).toMatchObject(UNKNOWN);
    expect(pauseOf(second)).not.toEqual(first);
  });

  test('an engine that admits another identity than its target fails as unknown', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A] } } },
      { [A]: { admit: () => seatedAt(B) } },
    );
    expect(await (await world.open()).run()).toMatchObject(UNKNOWN);
    const [end] = payloads(await world.events(), 'preflight:probe-finished');
    expect(end?.['outcome']).toMatchObject({ kind: 'failed', reported: { model: 'b' } });
  });

  test('an engine that answers under another identity fails the check as unknown', async () => {
    const world = await worldOf({ lanes: { one: { targets: [A] } } });
    const engine = world.engines[A];
    const executor = await world.open({
      engines: [
        {
          target: targetOf(A),
          engine: {
            name: 'changing',
            admit: async () => seatedAt(A),
            run: async (...args) => {
              const result = await engine?.run(...args);
              if (result === undefined) throw new Error('There is no engine.');
              return { ...result, requested: { ...result.requested, provider: 'elsewhere' } };
            },
          },
        },
      ],
    });
    expect(await executor.run()).toMatchObject(UNKNOWN);
    expect(world.calls).toEqual([`live ${A}`]);
  });
});

describe('a failed check that proves a target dead', () => {
  test('the fallback is checked in its place, and nodes go to it at once', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A, OTHER] } } },
      { [A]: { live: [failing('quota')] } },
    );
    expect(await (await world.open()).run()).toMatchObject({ kind: 'complete' });
    expect(world.calls.slice(2)).toEqual([`live ${A}`, `live ${OTHER}`, `ordinary ${OTHER} one`]);
    const [fact] = payloads(await world.events(), 'graph:model-unavailable');
    expect(fact).toMatchObject({
      selected: { adapter: 'cli', provider: 'p', model: 'a' },
      failure: 'quota',
      source: { kind: 'preflight', laneId: 'one' },
    });
  });

  test('bad credentials retire every model of the adapter and provider, unchecked', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A, B, OTHER], nodes: ['x', 'y'] } } },
      { [A]: { admit: 'auth' } },
    );
    await (await world.open()).run();
    expect(world.calls).toEqual([
      `static ${A} x`,
      `static ${OTHER} x`,
      `static ${OTHER} y`,
      `live ${OTHER}`,
      `ordinary ${OTHER} x`,
      `ordinary ${OTHER} y`,
    ]);
  });

  test.each([
    ['missing-cli', [`static ${A} one`]],
    ['invalid-config', [`static ${A} one`]],
    ['quota', [`static ${A} one`, `static cli/q/b one`, `live cli/q/b`, `ordinary cli/q/b one`]],
    ['auth', [`static ${A} one`, `static cli/q/b one`, `live cli/q/b`, `ordinary cli/q/b one`]],
  ] as const)('%s retires what it proves dead and no more', async (kind, calls) => {
    const world = await worldOf(
      { lanes: { one: { targets: [A, 'cli/q/b'] } } },
      { [A]: { admit: kind } },
    );
    await (await world.open()).run();
    expect(world.calls).toEqual(calls);
  });

  test('a seat that had answered may die with another lane: its fallback must answer', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A, OTHER] }, two: { targets: [B, 'api/q/c'] } } },
      { [B]: { live: [failing('auth')] } },
    );
    await (await world.open()).run();
    expect(world.calls.filter((call) => call.startsWith('live'))).toEqual([
      `live ${A}`,
      `live ${B}`,
      `live ${OTHER}`,
      'live api/q/c',
    ]);
  });

  test('a lane without a target ends the run for good, with nothing dispatched', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A, B] }, two: { targets: [OTHER] } } },
      { [A]: { admit: 'missing-cli' } },
    );
    const failed = await (await world.open()).run();
    expect(failed).toMatchObject({ kind: 'fail', code: 'PREFLIGHT_FAILED' });
    expect(failed).toMatchObject({ message: expect.stringContaining('Lane one') });
    const types = await world.types();
    expect(types.slice(-3)).toEqual([
      'graph:model-unavailable',
      'preflight:failed',
      'graph:run-finished',
    ]);
    const calls = [...world.calls];
    expect(await (await world.open()).run()).toEqual(failed);
    expect(world.calls).toEqual(calls);
    expect(await world.types()).toEqual(types);
    expect(await readRunPreflight(world.storage, RUN)).toMatchObject({
      phase: 'failed',
      pause: null,
    });
    expect(await world.storage.runIndex.get(RUN)).toMatchObject({ status: 'fail' });
  });

  test('a lane of which every target is blocked ends the run too', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A] } } },
      { [A]: { admit: 'unsupported' } },
    );
    expect(await (await world.open()).run()).toMatchObject({ code: 'PREFLIGHT_FAILED' });
    expect(world.calls).toEqual([]);
  });

  test('once admitted, a run is not ended by what dies later', async () => {
    const world = await worldOf({ lanes: { one: { targets: [A], live: 'skip' } } });
    const executor = await world.open({
      engines: [
        { target: targetOf(A), engine: { ...dying('auth'), admit: async () => seatedAt(A) } },
      ],
    });
    expect(await executor.run()).toMatchObject({ kind: 'fail', code: 'DAG_NODE_FAILED' });
    expect(await readRunPreflight(world.storage, RUN)).toMatchObject({ phase: 'admitted' });
  });
});

describe('what a check leaves behind', () => {
  test('the answer of a live check is kept as evidence, a failure as a diagnostic', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A, OTHER] } } },
      { [A]: { live: [failing('quota', 'no credit is left')] }, [OTHER]: { live: ['yes, ready'] } },
    );
    await (await world.open()).run();
    const ends = payloads(await world.events(), 'preflight:probe-finished').map(
      ({ outcome }) => outcome as Record<string, never>,
    );
    const text = async (reference: never) => {
      const scope = { namespace: STREAM.namespace, runId: RUN };
      return Buffer.from(await world.storage.artifactStore.read(scope, reference)).toString();
    };
    const failed = ends.find(({ kind }) => kind === 'failed');
    const succeeded = ends.find(({ kind }) => kind === 'succeeded');
    expect(await text(failed?.['diagnostic'] as never)).toContain('no credit is left');
    expect(await text(succeeded?.['evidence'] as never)).toContain('yes, ready');
  });

  test('the checks report their own usage, apart from that of the nodes', async () => {
    const world = await worldOf(
      { lanes: { one: { targets: [A, OTHER] } } },
      { [A]: { live: [failing('quota')] } },
    );
    await (await world.open()).run();
    const { usage } = await readRunPreflight(world.storage, RUN);
    // 3 tokens of the call that failed, 10 and 5 of the one that answered.
    expect(usage).toEqual({ calls: 2, unknownCalls: 0, inputTokens: 13, outputTokens: 5 });
    expect(payloads(await world.events(), 'graph:engine-attempt-recorded')).toHaveLength(1);
  });
});

describe('what an engine tells of itself', () => {
  test('what a call has told of its usage counts, though it fails without a receipt', async () => {
    const world = await worldOf(ONE);
    const usage = { kind: 'reported', inputTokens: 7, outputTokens: 1 } as const;
    const executor = await world.open({
      engines: [
        {
          target: targetOf(A),
          engine: {
            name: 'telling',
            admit: async () => seatedAt(A),
            run: async (_request, onEvent) => {
              onEvent({ kind: 'usage', usage });
              onEvent({ kind: 'usage', usage: { kind: 'odd' } as never });
              throw new TypeError('odd');
            },
          },
        },
      ],
    });
    await executor.run();
    expect(await readRunPreflight(world.storage, RUN)).toMatchObject({
      usage: { calls: 1, unknownCalls: 0, inputTokens: 7, outputTokens: 1 },
    });
  });

  test('an identity that holds a known secret is recorded nowhere', async () => {
    const knownSecrets = ['hunter2-hunter2'];
    const storage = createMemoryRunStorage({ namespace: 'test', knownSecrets });
    const world = await worldOf(
      { ...ONE, storage },
      { [A]: { admit: () => seatedAt(A, 'hunter2-hunter2') } },
    );
    expect(await (await world.open()).run()).toMatchObject(UNKNOWN);
    const said = { adapter: 'hunter2-hunter2', provider: null, modelFamily: null, model: null };
    const telling = createMemoryRunStorage({ namespace: 'test', knownSecrets });
    const live = () => {
      throw new EngineError({ kind: 'rate-limit', message: 'later', effective: said });
    };
    const other = await worldOf({ ...ONE, storage: telling }, { [A]: { live: [live] } });
    expect(await (await other.open()).run()).toMatchObject({ code: 'PREFLIGHT_PAUSED' });
    const all = JSON.stringify([await world.events(), await other.events()]);
    expect(all).not.toContain('hunter2');
  });
});

describe('the directory of the checks', () => {
  test.each([
    ['missing', undefined],
    ['relative', 'scratch'],
    ['absent', '/nowhere/at/all'],
    ['not in its shortest form', `${scratch()}/../x`],
    ['a file', new URL(import.meta.url).pathname],
    ['a link', linkTo(scratch())],
    ['behind a link', `${linkTo(path.dirname(scratch()))}/${path.basename(scratch())}`],
  ])('a directory that is %s is refused before anything is done', async (_what, given) => {
    const world = await worldOf({ lanes: { one: { targets: [A] } } });
    await expect(world.open({ preflightScratchDirectory: given })).rejects.toMatchObject({
      code: 'INVALID_PREFLIGHT_CONFIG',
    });
    expect(world.calls).toEqual([]);
  });
});

function linkTo(directory: string): string {
  const link = `${scratch()}/link`;
  symlinkSync(directory, link);
  return link;
}

function dying(kind: 'auth') {
  return { name: 'dying', run: async () => failing(kind)() };
}
