/** Two calls of `runFlow` at the same time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineFlow, runFlow, task } from 'holdfast';
import { afterEach, beforeEach, expect, test } from 'vitest';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('of two equal calls one drives the run, and the other is told', async () => {
  for (let round = 0; round < 5; round += 1) {
    const flow = defineFlow({ id: `same-${round}`, nodes: { n: task(() => 'done') } });
    const call = () =>
      runFlow(flow, null, { directory }).then(
        ({ nodes }) => nodes.n,
        (error: { readonly code?: string }) => error.code,
      );
    const results = await Promise.all([call(), call()]);
    expect(results).toContain('done');
    for (const result of results) expect(['done', 'RUN_OWNED']).toContain(result);
  }
});
