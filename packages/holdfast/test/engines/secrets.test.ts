/** Known secrets never reach the record, a log line or an engine's stream. */
import { dataNode, EngineError, type EngineLine, engineNode, type LogLine } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { expect, it } from 'vitest';
import { worldOf } from '../executor/world.ts';
import { laneWorld, target } from './world.ts';

const SECRET = 'sk-live-7f3a9c"quoted';
const encoded = [SECRET, encodeURIComponent(SECRET), Buffer.from(SECRET).toString('base64')];
const storage = () => createMemoryRunStorage({ namespace: 'test', knownSecrets: [SECRET] });

const holdsSecret = (value: unknown) => {
  const text = JSON.stringify(value);
  return encoded.some(
    (form) => text.includes(form) || text.includes(JSON.stringify(form).slice(1, -1)),
  );
};

it.each(encoded)('the text of a failure is recorded without the secret (%#)', async (form) => {
  const world = await worldOf(
    {
      a: dataNode(() => {
        throw new Error(`refused: Bearer ${form}, try again`);
      }),
    },
    {},
    storage(),
  );
  await (await world.open()).run();
  const failed = (await world.events()).find(({ type }) => type === 'graph:node-failed');
  expect(failed?.payload).toMatchObject({ code: 'EFFECT_FAILED' });
  expect(JSON.stringify(failed?.payload)).toMatch(/refused: Bearer .*, try again/);
  expect(holdsSecret(await world.events())).toBe(false);
});

it('a step that fails with the secret in its text is recorded without it', async () => {
  const world = await worldOf(
    {
      a: dataNode((_input, { step }) =>
        step('call', () => {
          throw new Error(`no: ${SECRET}`);
        }),
      ),
    },
    {},
    storage(),
  );
  await (await world.open()).run();
  expect(holdsSecret(await world.events())).toBe(false);
});

it('a result that holds the secret is refused and not recorded', async () => {
  const world = await worldOf({ a: dataNode(() => ({ key: encoded[2] ?? '' })) }, {}, storage());
  expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
  const failed = (await world.events()).find(({ type }) => type === 'graph:node-failed');
  expect(failed?.payload).toMatchObject({ code: 'KNOWN_SECRET' });
});

it('log lines are redacted, message and data', async () => {
  const lines: LogLine[] = [];
  const world = await worldOf(
    {
      a: dataNode((_input, { log }) => {
        log(`key is ${SECRET}`, { [SECRET]: encoded[1] ?? '' });
        return null;
      }),
    },
    {},
    storage(),
  );
  await (await world.open({ onLog: (line) => lines.push(line) })).run();
  expect(lines).toHaveLength(1);
  expect(holdsSecret(lines)).toBe(false);
});

it('what an engine streams is redacted, also where the secret is split over events', async () => {
  const lines: EngineLine[] = [];
  const world = await laneWorld({
    targets: [target('big')],
    responders: [
      (_request, { onEvent }) => {
        for (const letter of `the key ${SECRET} leaks`) onEvent({ kind: 'text', text: letter });
        onEvent({ kind: 'tool', name: SECRET, phase: 'use' });
        return { text: 'done' };
      },
    ],
    storage: storage(),
  });
  await (await world.open({ onEngineEvent: (line) => lines.push(line) })).run();
  const said = lines.flatMap(({ event }) => (event.kind === 'text' ? [event.text] : []));
  expect(said.join('')).toMatch(/^the key .* leaks/);
  expect(said.join('')).not.toContain(SECRET);
  expect(holdsSecret(lines)).toBe(false);
});

it('an engine that fails, answers or names itself with the secret leaves none of it', async () => {
  const reported = { adapter: 'mock', provider: SECRET, modelFamily: null, model: SECRET };
  const world = await laneWorld({
    targets: [target('big'), target('small', { provider: 'other' })],
    responders: [
      () => {
        throw new EngineError({ kind: 'auth', message: `bad ${SECRET}`, effective: reported });
      },
      () => `your key is ${SECRET}`,
    ],
    bindings: { a: engineNode({ prompt: () => 'hello' }) },
    storage: storage(),
  });
  expect(await (await world.open()).run()).toMatchObject({ kind: 'fail' });
  expect(holdsSecret(await world.events())).toBe(false);
  expect((await world.payloads('node-failed'))[0]).toMatchObject({ code: 'KNOWN_SECRET' });
});

it('a large result that holds the secret is refused as such, not as too large', async () => {
  const world = await worldOf(
    { a: dataNode(() => `${'x'.repeat(300_000)} ${SECRET}`, { largeResult: 'artifact' }) },
    {},
    storage(),
  );
  await (await world.open()).run();
  const failed = (await world.events()).find(({ type }) => type === 'graph:node-failed');
  expect(failed?.payload).toMatchObject({ code: 'KNOWN_SECRET', retryable: false });
});
