/** Answers of engines, which may be plain JavaScript: read once, refused by name, or frozen. */

import fc from 'fast-check';
import { engineSelection, isHoldfastError } from 'holdfast';
import {
  finalPart,
  partsBytes,
  readAgentResult,
  readReportedIdentity,
  readUsage,
} from 'holdfast/testing';
import { describe, expect, it } from 'vitest';

const requested = engineSelection({ adapter: 'mock', model: 'small-1', capabilities: ['a', 'b'] });
const text = { kind: 'assistant', text: 'hi', final: true };
const answer = {
  parts: [text],
  usage: { kind: 'reported', inputTokens: 10, outputTokens: 5 },
  requested,
  effective: { adapter: 'mock', provider: null, modelFamily: null, model: 'small-1' },
};

function refusal(returned: unknown): string {
  return refusalOf(() => readAgentResult(returned, requested));
}

function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isHoldfastError(error, 'RESULT_INVALID')) return error.message;
    throw error;
  }
  return 'nothing was refused';
}

const throwing = {
  get parts(): never {
    throw new Error('boom');
  },
};
const revoked = Proxy.revocable({}, {});
revoked.revoke();

describe('an answer of an engine', () => {
  it('may name a version and an executable that were left open, and no other part', () => {
    const reported = { ...requested, adapterVersion: '2.1', executable: '/usr/bin/mock' };
    expect(readAgentResult({ ...answer, requested: reported }, requested).requested).toBe(
      requested,
    );
    expect(refusal({ ...answer, requested: { ...requested, provider: 'x' } })).toContain(
      '/provider',
    );
    const fixed = { ...requested, adapterVersion: '2.0' };
    expect(() => readAgentResult({ ...answer, requested: reported }, fixed)).toThrow(
      '/adapterVersion',
    );
  });

  it('is copied and frozen, and its request is the record that was prepared', () => {
    const value = { list: [1] };
    const parts = [
      { kind: 'assistant', text: 'so', final: false, extra: 1 },
      { kind: 'structured', value, final: true },
    ];
    const result = readAgentResult({ ...answer, parts, stopReason: 'end' }, requested);
    value.list.push(2);
    expect(result).toEqual({
      ...answer,
      stopReason: 'end',
      parts: [
        { kind: 'assistant', text: 'so', final: false },
        { kind: 'structured', value: { list: [1] }, final: true },
      ],
    });
    expect(result.requested).toBe(requested);
    const inside = [result, result.parts, ...result.parts, result.usage, result.effective];
    expect(inside.every(Object.isFrozen)).toBe(true);
    expect(finalPart(result)).toBe(result.parts[1]);
  });

  it('has the size of its texts and of the JSON text of its values, in UTF-8 bytes', () => {
    const parts = [
      { kind: 'assistant', text: 'é😀', final: false },
      { kind: 'structured', value: { a: 'é' }, final: true },
    ];
    const result = readAgentResult({ ...answer, parts }, requested);
    expect(partsBytes(result)).toBe(2 + 4 + '{"a":"'.length + 2 + '"}'.length);
  });

  it.each([
    ['nothing', undefined, 'the returned value is undefined'],
    ['text', 'hi', 'the returned value is "hi"'],
    ['an array', [], 'the returned value is an array'],
    ['a revoked proxy', revoked.proxy, 'is a value that cannot be read'],
    ['a getter that throws', throwing, '/parts is a value that cannot be read'],
    ['no parts', { ...answer, parts: undefined }, '/parts is undefined, expected an array'],
    ['empty parts', { ...answer, parts: [] }, '/parts/length is 0'],
    ['a hole', { ...answer, parts: new Array(3) }, '/parts/0 is undefined'],
    ['endless parts', { ...answer, parts: new Array(2 ** 31) }, '/parts/length is 2147483648'],
    [
      'a part of no kind',
      { ...answer, parts: [{ ...text, kind: 'image' }] },
      '/parts/0/kind is "image"',
    ],
    ['a text that is none', { ...answer, parts: [{ ...text, text: 1 }] }, '/parts/0/text is 1'],
    [
      'half a pair',
      { ...answer, parts: [{ ...text, text: '\ud83d' }] },
      String.raw`/parts/0/text is "\ud83d"`,
    ],
    ['no final part', { ...answer, parts: [{ ...text, final: false }] }, '/parts/0/final is false'],
    ['a truthy final', { ...answer, parts: [{ ...text, final: 1 }] }, '/parts/0/final is 1'],
    ['two final parts', { ...answer, parts: [text, text] }, '/parts/0/final is true'],
    [
      'a structured part that is not last',
      { ...answer, parts: [{ kind: 'structured', value: 1, final: true }, text] },
      '/parts/0/kind is "structured"',
    ],
    [
      'a value that is no JSON',
      { ...answer, parts: [{ kind: 'structured', value: { a: [new Date(0)] }, final: true }] },
      '/parts/0/value/a/0 is not a plain object (Date), expected plain JSON',
    ],
    ['usage that is a number', { ...answer, usage: 15 }, '/usage is 15'],
    ['usage of no kind', { ...answer, usage: { inputTokens: 1 } }, '/usage/kind is undefined'],
    [
      'another model',
      { ...answer, requested: { ...requested, model: 'x' } },
      '/requested/model is "x"',
    ],
    ['no request', { ...answer, requested: undefined }, '/requested is undefined'],
    [
      'an older form of the request',
      { ...answer, requested: { ...requested, executable: undefined } },
      '/requested/executable is undefined, expected what was asked for: null',
    ],
    [
      'other capabilities',
      { ...answer, requested: { ...requested, capabilities: ['a', 'c'] } },
      '/requested/capabilities/1 is "c"',
    ],
    [
      'more capabilities',
      { ...answer, requested: { ...requested, capabilities: ['a', 'b', 'c'] } },
      '/requested/capabilities/length is 3',
    ],
    ['a blank adapter', { ...answer, effective: { adapter: ' ' } }, '/effective/adapter is " "'],
    [
      'a model that is a number',
      { ...answer, effective: { ...answer.effective, model: 4 } },
      '/effective/model is 4',
    ],
    ['a stop reason that is no text', { ...answer, stopReason: {} }, '/stopReason is an object'],
  ])('is refused by the field that is wrong: %s', (_, returned, message) => {
    expect(refusal(returned)).toContain(message);
  });

  it('shows what it refuses whole, or only how long it is', () => {
    const long = refusal({ ...answer, usage: { kind: 'x'.repeat(1_000_000) } });
    expect(long).toContain('/usage/kind is a text of 1000000 characters, expected');
    const odd = refusal({ ...answer, usage: { kind: 'a\u0007b' } });
    expect(odd).toContain(String.raw`/usage/kind is "a\u0007b", expected`);
  });

  it('is read once: what an engine changes meanwhile changes nothing', () => {
    let reads = 0;
    const shifty = {
      ...answer,
      get parts() {
        reads += 1;
        return reads === 1 ? [text] : 'something else';
      },
    };
    expect(readAgentResult(shifty, requested).parts).toEqual([text]);
    expect(reads).toBe(1);
  });

  it('is read or refused as RESULT_INVALID, whatever it is', () => {
    const odd = fc.anything({ withNullPrototype: true });
    const broken = fc.record({
      ...Object.fromEntries(
        Object.entries(answer).map(([key, value]) => [key, fc.oneof(fc.constant(value), odd)]),
      ),
      stopReason: odd,
    });
    fc.assert(
      fc.property(fc.oneof(odd, broken), (returned) => {
        // Whatever else it threw would come out of here.
        refusal(returned);
      }),
    );
  });
});

describe('what an engine reports', () => {
  it('of usage stays unknown when nothing was said, and is never made zero', () => {
    expect(readUsage(undefined)).toEqual({ kind: 'unknown' });
    expect(readUsage(null)).toEqual({ kind: 'unknown' });
    expect(readUsage({ kind: 'unknown' })).toEqual({ kind: 'unknown' });
  });

  it('of usage is given on as it is, with its cache when it names one', () => {
    const receipt = { kind: 'reported', inputTokens: 0, outputTokens: 3 };
    expect(readUsage(receipt)).toEqual(receipt);
    const cached = { ...receipt, cacheReadInputTokens: 2, cacheCreationInputTokens: 0 };
    expect(readUsage({ ...cached, cost: 1 })).toEqual(cached);
    expect(readUsage({ ...receipt, inputTokens: -0 })).toEqual(receipt);
  });

  it.each([
    ['inputTokens', -1],
    ['outputTokens', 1.5],
    ['outputTokens', '3'],
    ['inputTokens', undefined],
    ['inputTokens', 2 ** 53],
    ['cacheReadInputTokens', Number.NaN],
  ])('of usage is refused when %s is %s', (name, value) => {
    const receipt = { kind: 'reported', inputTokens: 1, outputTokens: 1, [name]: value };
    expect(refusalOf(() => readUsage(receipt))).toContain(`/usage/${name} is `);
  });

  it('of its identity is filled up with null, and is null when it is malformed', () => {
    const unknown = { provider: null, modelFamily: null, model: null };
    expect(readReportedIdentity({ adapter: 'mock' })).toEqual({ adapter: 'mock', ...unknown });
    const malformed = [undefined, null, 'mock', { model: 'x' }, { adapter: 'a\n' }, revoked.proxy];
    expect(malformed.map(readReportedIdentity)).toEqual(malformed.map(() => null));
  });
});
