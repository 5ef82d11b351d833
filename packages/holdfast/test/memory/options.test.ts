import {
  createFileMemory,
  createInMemoryMemory,
  defaultMemoryLimits,
  isHoldfastError,
} from 'holdfast';
import { expect, it } from 'vitest';

function codeOf(make: () => unknown): unknown {
  try {
    make();
    return 'made';
  } catch (error) {
    return isHoldfastError(error) ? [error.code, error.details['option']] : error;
  }
}

const bad = [
  ['scope', { scope: '' }],
  ['scope', { scope: '  ' }],
  ['scope', { scope: 7 }],
  ['scope', { scope: 'a\nb' }],
  ['limits.maxFiles', { limits: { maxFiles: 0 } }],
  ['limits.maxFileBytes', { limits: { maxFileBytes: '1' } }],
  ['limits.maxTotalBytes', { limits: { maxTotalBytes: Number.POSITIVE_INFINITY } }],
  ['extensions', { extensions: [] }],
  ['extensions', { extensions: 'md' }],
  ['extensions', { extensions: ['md'] }],
  ['extensions', { extensions: ['./..'] }],
  ['evict', { evict: 'newest' }],
] as const;

it.each(bad)('a memory with a wrong %s is not made: %j', (option, wrong) => {
  const options = { scope: 's', ...(wrong as object) };
  const refusal = ['INVALID_OPTION', option];
  expect(codeOf(() => createInMemoryMemory(options))).toEqual(refusal);
  expect(codeOf(() => createFileMemory({ ...options, directory: 'somewhere' }))).toEqual(refusal);
});

it.each(['', ' ', 'a\0b', 7, undefined])('a directory must be a path, not %j', (directory) => {
  const options = { scope: 's', directory: directory as string };
  expect(codeOf(() => createFileMemory(options))).toEqual(['INVALID_OPTION', 'directory']);
});

it.each([0, -1, 1.5, Number.NaN, 3_600_001, '9'])('a lock is not waited for %j', (wrong) => {
  const options = { scope: 's', directory: 'somewhere', lockWaitMs: wrong as number };
  expect(codeOf(() => createFileMemory(options))).toEqual(['INVALID_OPTION', 'lockWaitMs']);
});

it('a memory without limits has the default ones', async () => {
  const memory = createInMemoryMemory({ scope: 's' });
  const file_text = 'x'.repeat(defaultMemoryLimits.maxFileBytes);
  const create = { command: 'create', path: '/memories/a' } as const;
  const more = await memory.execute({ ...create, file_text: `${file_text}x` });
  expect(more).toMatchObject({ ok: false, error: { code: 'LIMIT_EXCEEDED' } });
  expect(await memory.execute({ ...create, file_text })).toMatchObject({ ok: true });
});
