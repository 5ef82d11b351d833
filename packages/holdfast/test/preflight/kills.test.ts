/** Real processes that die in the middle of an engine check (SIGKILL). Seed 002. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { interruptRunPreflight, type RunResult, readRunPreflight } from 'holdfast';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { afterAll, describe, expect, test } from 'vitest';

const script = fileURLToPath(new URL('checked-process.ts', import.meta.url));
const base = mkdtempSync(path.join(tmpdir(), 'holdfast-checked-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

interface Ended {
  readonly signal: string | null;
  readonly said: RunResult | { readonly code: string } | null;
}

function processOf(directory: string, ...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const all = ['--import', 'tsx', '--no-warnings', script, directory, ...args];
    execFile(process.execPath, all, (error, said, errors) => {
      const { signal = null } = (error ?? {}) as { readonly signal?: string };
      if (signal === null && said === '') reject(new Error(errors));
      else resolve({ signal, said: said === '' ? null : JSON.parse(said) });
    });
  });
}

function callsIn(directory: string): readonly string[] {
  return readFileSync(path.join(directory, 'calls'), 'utf8').trim().split('\n');
}

describe.concurrent('a process that dies during an engine check', () => {
  test.each([
    ['static', ['static', 'static', 'live', 'ordinary']],
    ['live', ['static', 'live', 'static', 'live', 'ordinary']],
  ] as const)('%s: the check becomes a pause, and resuming goes on', async (kill, calls) => {
    const directory = mkdtempSync(path.join(base, 'run-'));
    expect(await processOf(directory, 'start', kill)).toMatchObject({ signal: 'SIGKILL' });
    // Nobody knows what became of it: a new process refuses to go on by itself.
    expect((await processOf(directory, 'run', 'none')).said).toMatchObject({ code: 'PROTOCOL' });
    const storage = createLocalRunStorage({ directory, namespace: 'test' });
    const open = await readRunPreflight(storage, 'r1');
    expect(open.unfinishedProbeEventId).not.toBeNull();
    const pause = await interruptRunPreflight(storage, 'r1');
    const { preflightEventId = '' } = pause ?? {};
    const paused = await processOf(directory, 'run', 'none');
    expect(paused.said).toMatchObject({
      kind: 'pause',
      code: 'PREFLIGHT_PAUSED',
      preflightEventId,
    });
    const resumed = await processOf(directory, 'resume', 'none', preflightEventId);
    expect(resumed.said).toMatchObject({ kind: 'complete' });
    expect(callsIn(directory)).toEqual(calls);
    expect(await readRunPreflight(storage, 'r1')).toMatchObject({
      phase: 'admitted',
      resumedPreflightEventId: preflightEventId,
    });
    await storage.close();
  });

  test('a process that died in a node: another checks again and calls none live', async () => {
    const directory = mkdtempSync(path.join(base, 'run-'));
    expect(await processOf(directory, 'start', 'ordinary')).toMatchObject({ signal: 'SIGKILL' });
    const waiting = await processOf(directory, 'run', 'none');
    expect(waiting.said).toMatchObject({ kind: 'waiting' });
    expect(callsIn(directory)).toEqual(['static', 'live', 'ordinary', 'static']);
  });
});
