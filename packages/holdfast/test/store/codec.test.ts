import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { portableHash } from '../../src/base/digest.ts';
import { cloneFrozenJson, isFrozenJson, type JsonValue } from '../../src/base/json.ts';
import { MomentText } from '../../src/base/time.ts';
import { attemptIdOf } from '../../src/history/attempt-id.ts';
import { decodeBatch, encodeBatch, type RecordedEvent } from '../../src/history/codec.ts';

const stream = { namespace: 'tests', streamId: 'run-1' };
const times = fc.oneof(
  fc
    .integer({ min: -62135596800000, max: 253402300799999 })
    .map((ms) => new Date(ms).toISOString()),
  fc.constantFrom('2026-11-30T10:00:00.000Z', 'no time', ''),
);
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => cloneFrozenJson<JsonValue>(value));
const names = fc.constantFrom('n', 'dag/n', '__proto__', 'ü😀', '');

/** Payloads near the known layouts: whole, with fields missing, more, or of another type. */
const fields: Record<string, fc.Arbitrary<unknown>> = {
  nodeId: names,
  position: names,
  inputDigest: names,
  decidedAt: fc.nat(),
  at: fc.oneof(times, fc.constant(0)),
  retrySafe: fc.oneof(fc.boolean(), fc.constant(1)),
  result: json,
  code: names,
  message: names,
  retryable: fc.boolean(),
  definition: json,
  name: names,
  signalId: names,
  payload: json,
  by: names,
  reason: names,
  outcome: names,
  step: names,
  notBefore: times,
};
const identities = fc
  .tuple(names, names, fc.boolean(), fc.boolean())
  .map(([nodeId, position, own, mine]) => ({
    namespace: mine ? stream.namespace : 'other',
    streamId: stream.streamId,
    nodeId,
    position,
    attemptId: own ? attemptIdOf(stream, nodeId, position) : 'sha256:foreign',
  }));
const payloads = fc.oneof(
  json,
  fc.record({ ...fields, identity: identities }, { requiredKeys: [] }),
  fc.record({ identity: identities, retrySafe: fc.boolean() }),
  fc.record(
    {
      nodeId: names,
      position: names,
      inputDigest: names,
      decidedAt: fc.nat(),
      at: times,
      ['__proto__']: names,
    },
    { requiredKeys: ['nodeId', 'position', 'inputDigest', 'decidedAt', 'at'] },
  ),
  fc.record({ nodeId: names, position: names, result: json, at: times }),
);
const types = fc.constantFrom(
  'graph:run-started',
  'graph:node-dispatched',
  'graph:node-dispatched',
  'graph:node-attempt-started',
  'graph:node-attempt-started',
  'graph:node-completed',
  'graph:node-failed',
  'graph:signal-received',
  'graph:run-finished',
  'runner:started',
  '3',
);
const events: fc.Arbitrary<RecordedEvent> = fc.record({
  id: fc.option(names),
  type: types,
  version: fc.constantFrom(1, 1, 1, 2),
  timestamp: times,
  correlationId: fc.constantFrom('run-1', 'other'),
  causationId: fc.option(names),
  payload: payloads.map((value) => cloneFrozenJson<JsonValue>(value)),
});

describe('codec', () => {
  it('decodes every batch to the events it was made of, frozen', () => {
    fc.assert(
      fc.property(fc.array(events, { minLength: 1, maxLength: 6 }), (batch) => {
        const decoded = decodeBatch(stream, encodeBatch(stream, batch));
        expect(decoded).toEqual(batch);
        for (const { payload } of decoded) {
          expect(typeof payload !== 'object' || payload === null || isFrozenJson(payload)).toBe(
            true,
          );
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives a moment the same text whatever was decoded before it', () => {
    const near = fc.oneof(fc.constantFrom(0, 1), fc.integer({ min: -70_000, max: 70_000 }));
    const moments = fc
      .tuple(fc.constantFrom(0, -8.64e15, 8.64e15, 1.8e12, 253402300800000), near)
      .map(([base, offset]) => base + offset);
    fc.assert(
      fc.property(fc.array(moments, { minLength: 2, maxLength: 8 }), (all) => {
        const tools = { hash: portableHash, moments: new MomentText() };
        for (const ms of all) {
          const decode = () => decodeBatch(stream, `[${ms},["test:happened",1]]`, tools);
          const date = new Date(ms);
          if (Number.isNaN(date.getTime())) expect(decode).toThrow(/is no moment/);
          else expect(decode()[0]?.timestamp).toBe(date.toISOString());
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps a key named __proto__ as an ordinary key', () => {
    const payload = cloneFrozenJson<JsonValue>(
      JSON.parse('{"name":"n","signalId":"s","payload":1,"at":"x","__proto__":{"admin":true}}'),
    );
    const event = { id: null, type: 'graph:signal-received', version: 1, timestamp: 'x' };
    const batch = [{ ...event, correlationId: 'run-1', causationId: null, payload }];
    const [decoded] = decodeBatch(stream, encodeBatch(stream, batch));
    expect(decoded?.payload).not.toHaveProperty('admin');
    expect(JSON.stringify(decoded?.payload)).toContain('"__proto__":{"admin":true}');
  });

  it('stores a step of outcome, dispatch and start in under 400 bytes', () => {
    const at = '2026-11-30T10:00:00.000Z';
    const place = { nodeId: 'node-123', position: 'dag/node-123' };
    const base = { id: null, version: 1, timestamp: at, correlationId: 'run-1', causationId: null };
    const identity = {
      ...stream,
      ...place,
      attemptId: attemptIdOf(stream, place.nodeId, place.position),
    };
    const text = encodeBatch(stream, [
      { ...base, type: 'graph:node-completed', payload: { ...place, result: 'x'.repeat(100), at } },
      {
        ...base,
        type: 'graph:node-dispatched',
        payload: { ...place, inputDigest: `sha256:${'a'.repeat(64)}`, decidedAt: 3, at },
      },
      { ...base, type: 'graph:node-attempt-started', payload: { identity, retrySafe: false } },
    ]);
    expect(text.length).toBeLessThan(400);
  });

  it.each([
    '',
    'x',
    '{}',
    '[1]',
    '[null,[8,1,2,3]]',
    '[0,[99,1]]',
    '[0,[8,1]]',
    '[0,7]',
    '[0,[3]]',
  ])('refuses the text %j by name', (text) => {
    expect(() => decodeBatch(stream, text)).toThrow(
      expect.objectContaining({ code: 'CORRUPT_EVENT_STREAM' }),
    );
  });
});
