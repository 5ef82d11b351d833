/** What node code says of its own failure is kept, also where an answer is made a result. */
import { NodeFailure } from 'holdfast';
import { expect, test } from 'vitest';
import { oneReply } from './one-call.ts';

test.each([true, false])(
  'a failure that parseResult throws keeps its code, and whether to try again: %s',
  async (retryable) => {
    const parseResult = () => {
      throw new NodeFailure('NO_VERDICT', 'It says neither yes nor no.', { retryable });
    };
    const { failed } = await oneReply(() => 'perhaps', { parseResult });
    expect(failed).toMatchObject({
      code: 'NO_VERDICT',
      message: 'It says neither yes nor no.',
      retryable,
    });
  },
);

test('anything else that it throws is no result', async () => {
  const parseResult = () => {
    throw new Error('No JSON.');
  };
  const { failed } = await oneReply(() => 'perhaps', { parseResult });
  expect(failed).toMatchObject({
    code: 'RESULT_INVALID',
    message: 'parseResult made no result of the answer for a: No JSON.',
  });
});
