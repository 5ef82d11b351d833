/** Why engine checks pause, in words; and what counts of an answer that is none. Seed 002. */
import {
  type Engine,
  EngineError,
  type EngineSelectionRecord,
  engineSelection,
  interruptRunPreflight,
  type RunStorage,
  readRunPreflight,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { gate } from '../executor/world.ts';
import { payloads, RUN, seatedAt, targetOf, type World, worldOf } from './world.ts';

const A = 'cli/p/a';
const ONE = { lanes: { one: { targets: [A] } } } as const;
const requested = engineSelection({ ...targetOf(A), capabilities: [] });
const said = (text: string) => [{ kind: 'assistant', text, final: true }] as const;
const reported = { kind: 'reported', inputTokens: 7, outputTokens: 1 } as const;
const used = { calls: 1, unknownCalls: 0, inputTokens: 7, outputTokens: 1 };

/** An engine that may say anything. */
function odd(run: Engine['run'] | (() => unknown), admit: () => unknown = () => seatedAt(A)) {
  const engine = { name: 'odd', admit: async () => admit(), run } as Engine;
  return [{ target: targetOf(A), engine }];
}

async function openOf(engines: ReturnType<typeof odd>, storage?: RunStorage) {
  const world = await worldOf({ ...ONE, ...(storage === undefined ? {} : { storage }) });
  return { world, open: () => world.open({ engines }) };
}

/** What `run`, a later process, the view and a reader of the record say of the pause: the same. */
async function reasonOf({ world, open }: Awaited<ReturnType<typeof openOf>>): Promise<string> {
  const paused = await (await open()).run();
  if (paused.kind !== 'pause') throw new Error(`Expected a pause, not ${paused.kind}.`);
  const { reason } = paused;
  expect(await (await open()).run()).toEqual(paused);
  const { pause } = await readRunPreflight(world.storage, RUN);
  expect(pause?.message).toBe(reason);
  expect((await (await open()).view()).preflightPause?.message).toBe(reason);
  expect(payloads(await world.events(), 'preflight:paused')).toMatchObject([{ message: reason }]);
  return reason;
}

const never: () => unknown = () => {
  throw new Error('No call was to be made.');
};
const changed = (part: Partial<EngineSelectionRecord>) => () => ({ ...seatedAt(A), ...part });

describe('the reason of a pause names the target and what was wrong', () => {
  test.each<[string, () => unknown, RegExp]>([
    ['another model', changed({ model: 'z' }), /model is z, not a\b/],
    ['another adapter', changed({ adapter: 'x' }), /adapter is x, not cli\b/],
    ['other tools', changed({ capabilities: ['rm'] }), /capabilities is \["rm"\], not \[/],
    ['nothing', () => null, /names no identity/],
    ['half an identity', () => ({ adapter: 'cli' }), /names no identity that can be read/],
    ['a failure', () => Promise.reject(new Error('no disk')), /failed \(unknown\): no disk/],
    ['a thrown null', () => Promise.reject(null), /failed \(unknown\): It threw null\./],
    [
      'a long version',
      changed({ adapterVersion: 'v'.repeat(300_000) }),
      /adapterVersion has 300000 characters, and 200 are allowed/,
    ],
    [
      'a long executable',
      changed({ executable: `/${'x'.repeat(300_000)}` }),
      /executable has 300001 characters, and 4096 are allowed/,
    ],
    [
      'a long tool',
      changed({ capabilities: ['t'.repeat(201)] }),
      /capabilities has 201 characters, and 200 are allowed/,
    ],
  ])('of a static check that finds %s', async (_what, admit, wrong) => {
    const reason = await reasonOf(await openOf(odd(never, admit)));
    expect(reason).toContain(`static check of ${A} for lane one, node one failed (unknown)`);
    expect(reason).toMatch(wrong);
    expect(reason.length).toBeLessThan(2_001);
  });

  test.each<[string, Engine['run'] | (() => unknown), RegExp]>([
    [
      'no text',
      async () => ({ parts: said(' '), usage: null, requested, effective: null }),
      /\(unknown\): The engine answered without any text/,
    ],
    ['no answer', async () => null, /\(unknown\): .*null/],
    ['a thrown null', async () => Promise.reject(null), /\(unknown\): It threw null/],
    [
      'a rate limit',
      () => Promise.reject(new EngineError({ kind: 'rate-limit', message: 'slow\ndown' })),
      /\(rate-limit\): slow down/,
    ],
    ['a long text', () => Promise.reject(new Error('x'.repeat(9_999))), /\(unknown\): x{500,}…/],
  ])('of a live check that gets %s', async (_what, run, wrong) => {
    const reason = await reasonOf(await openOf(odd(run)));
    expect(reason).toContain(`live check of ${A} for lane one failed`);
    expect(reason).toMatch(wrong);
    expect(reason.length).toBeLessThan(2_001);
  });

  test('of a check whose process died', async () => {
    const asked = gate();
    const hanging = await openOf(odd(() => new Promise(() => asked.open())));
    void (await hanging.open()).run().catch(() => {});
    await asked.opened;
    const pause = await interruptRunPreflight(hanging.world.storage, RUN);
    expect(pause?.message).toBe(`The live check of ${A} for lane one was interrupted.`);
    expect(await reasonOf(hanging)).toBe(pause?.message);
  });

  test('without a secret, though it stands where the text is cut', async () => {
    const secret = 'hunter2-hunter2';
    for (let before = 1_880; before < 2_000; before += 7) {
      const storage = createMemoryRunStorage({ namespace: 'test', knownSecrets: [secret] });
      const text = `${'x'.repeat(before)}${secret}`;
      const world = await openOf(
        odd(() => Promise.reject(new Error(text))),
        storage,
      );
      expect(await reasonOf(world)).not.toMatch(/hunter|h…/);
    }
  });
});

test('a live check shows that its target can answer, and records who says it did', async () => {
  const effective = { adapter: 'cli', provider: 'p9', modelFamily: null, model: 'm9' };
  const answer = { parts: said('ready'), usage: null, requested, effective };
  const { world, open } = await openOf(odd(async () => answer));
  await (await open()).run();
  const { phase } = await readRunPreflight(world.storage, RUN);
  expect(phase).toBe('admitted');
  const [end] = payloads(await world.events(), 'preflight:probe-finished').slice(-1);
  expect(end?.['outcome']).toMatchObject({ kind: 'succeeded', reported: effective });
});

describe('what a live check has used counts', () => {
  const telling =
    (answer: object): Engine['run'] =>
    async (_request, onEvent) => {
      onEvent({ kind: 'usage', usage: reported });
      return answer as never;
    };
  const usageOf = async ({ storage }: World) => (await readRunPreflight(storage, RUN)).usage;
  const answer = { parts: said('ready'), usage: null, requested, effective: null };

  test('as it was told, where its answer says nothing', async () => {
    const { world, open } = await openOf(odd(telling(answer)));
    await (await open()).run();
    expect(await usageOf(world)).toEqual(used);
  });

  test('as a malformed answer says, with who gave it', async () => {
    const effective = { adapter: 'cli', provider: 'p9', modelFamily: null, model: 'm9' };
    const malformed = { ...answer, parts: [], usage: reported, effective };
    const { world, open } = await openOf(odd(async () => malformed as never));
    await (await open()).run();
    expect(await usageOf(world)).toEqual(used);
    const [end] = payloads(await world.events(), 'preflight:probe-finished').slice(-1);
    expect(end?.['outcome']).toMatchObject({ kind: 'failed', reported: effective });
  });

  test('as it was told, where a malformed answer says nothing', async () => {
    const { world, open } = await openOf(odd(telling({ ...answer, parts: 'none' })));
    await (await open()).run();
    expect(await usageOf(world)).toEqual(used);
  });
});
