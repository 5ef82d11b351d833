/** What a graph says when it ends or pauses a run never stands in the way of what is recorded. */
import { dataNode, defaultStoragePolicy, type RunStorage } from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, test } from 'vitest';
import { eventsOf } from '../support/stored-events.ts';
import { type Said, scriptedRun } from './scripted-graph.ts';

const KEY = 'sk-live-AAAABBBBCCCCDDDDEEEEFFFF';
const SPACED = 'horse\uFFFDbattery';

const memory = (more = {}) => createMemoryRunStorage({ namespace: 'test', ...more });

/** A run of one node that is not retry-safe; then the graph says `last`. */
async function ended(last: Said, storage: RunStorage = memory(), value: unknown = 'receipt') {
  let charged = 0;
  const a = dataNode(() => {
    charged += 1;
    return value;
  });
  const open = await scriptedRun(storage, { nodes: { a }, said: [{ nodeId: 'a' }, last] });
  const result = await (await open()).run();
  const again = await (await open()).run();
  const events = await eventsOf(storage, 'r1');
  return { result, again, charged, payload: events.at(-1)?.payload, text: JSON.stringify(events) };
}

const failing = (code: string, message: string): Said => ({ kind: 'fail', code, message });

describe('what a graph fails with', () => {
  test.each([
    ['a message over the event limit', failing('X', 'm'.repeat(300_000)), 'X', 2_000],
    ['a code over the event limit', failing('X'.repeat(300_000), 'no'), `${'X'.repeat(127)}…`, 2],
  ])('%s is cut, and the settled node is not repeated', async (_what, last, code, length) => {
    const { result, again, charged, payload } = await ended(last);
    expect(result).toMatchObject({ kind: 'fail', code });
    expect(result.kind === 'fail' && result.message).toHaveLength(length);
    expect(again).toEqual(result);
    expect(payload).toEqual({ outcome: 'fail', ...result, kind: undefined });
    expect(charged).toBe(1);
  });

  test('a secret is taken out of the message before it is cut', async () => {
    const storage = memory({ knownSecrets: [KEY] });
    const last = failing('X', `${'m'.repeat(1_985)} ${KEY} ${'n'.repeat(5_000)}`);
    const { result, again, charged, text } = await ended(last, storage);
    expect(result).toMatchObject({ kind: 'fail', code: 'X' });
    expect(again).toEqual(result);
    expect(text).not.toContain('AAAA');
    expect(text).not.toContain('sk-live');
    expect(charged).toBe(1);
  });

  test.each([
    ['a code that holds a secret', failing(`X ${KEY}`, 'no')],
    ['a message that becomes a secret when it is cleaned', failing('X', 'a horse\rbattery')],
  ])('%s is named and not repeated', async (_what, last) => {
    const storage = memory({ knownSecrets: [KEY, SPACED] });
    const { result, again, charged, text } = await ended(last, storage);
    expect(result).toMatchObject({ kind: 'fail', code: 'KNOWN_SECRET' });
    expect(again).toEqual(result);
    expect(text).not.toContain('battery');
    expect(charged).toBe(1);
  });

  test('it fits beside a large result where a batch holds no more than an event', async () => {
    const limit = 16_384;
    const policy = {
      ...defaultStoragePolicy,
      maxEventPayloadBytes: limit,
      maxAppendBatchBytes: limit,
    };
    const last = failing('X', 'é'.repeat(5_000));
    const { result, again, charged } = await ended(last, memory({ policy }), 'v'.repeat(15_800));
    expect(result).toMatchObject({ kind: 'fail', code: 'X' });
    expect(again).toEqual(result);
    expect(charged).toBe(1);
  });
});

test('why a graph pauses is told as one bounded line without secrets', async () => {
  const reason = `${'r'.repeat(490)} ${KEY} ${'s'.repeat(300_000)}`;
  const storage = memory({ knownSecrets: [KEY] });
  const { result, charged } = await ended({ kind: 'pause', reason }, storage);
  expect(result).toMatchObject({ kind: 'pause' });
  expect(result.kind === 'pause' && result.reason.length).toBe(500);
  expect(JSON.stringify(result)).not.toContain('sk-live');
  expect(charged).toBe(1);
});
