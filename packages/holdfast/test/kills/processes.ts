/** Processes that work on a stored run and are killed on the way, and what they left. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EventEnvelope, RunResult } from 'holdfast';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { afterAll, expect } from 'vitest';
import { eventsOf } from '../support/stored-events.ts';

const worker = fileURLToPath(new URL('worker.mjs', import.meta.url));

/** Tests run side by side: their directories go when all of them are done. */
const base = mkdtempSync(path.join(tmpdir(), 'holdfast-kills-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

type Act = string | readonly [string, ...unknown[]];

/** What a process is to do; `worker.mjs` says what each part means. */
export interface Job {
  readonly acts: readonly Act[];
  readonly kill?: string;
  readonly aheadMs?: number;
  readonly executor?: { readonly maxConcurrentAttempts?: number; readonly maxIdleMs?: number };
}

/** A stored run that several processes work on, one after the other. */
export interface KilledRun {
  /** Works until the process kills itself at `job.kill`; anything else fails the test. */
  killed(job: Job & { readonly kill: string }): Promise<void>;
  /** Works to the end; what each act returned. */
  work(job: Job): Promise<readonly RunResult[]>;
  /** True when the process killed itself before it was done. */
  tried(job: Job): Promise<boolean>;
  /** How often each effect happened. */
  effects(): Readonly<Record<string, number>>;
  events(): Promise<readonly EventEnvelope[]>;
}

/** An empty directory and a scene to play in it. */
export function killedRun(
  scene: string,
  options: { readonly retrySafe?: boolean } = {},
): KilledRun {
  const directory = mkdtempSync(path.join(base, 'run-'));
  const start = (job: Job) => run({ directory, scene, options, ...job });
  return {
    killed: async (job) => {
      const ended = await start(job);
      expect(ended, `killed at ${job.kill}`).toMatchObject({ signal: 'SIGKILL' });
    },
    work: async (job) => {
      const ended = await start(job);
      expect(ended, ended.errors).toMatchObject({ code: 0, signal: null });
      return JSON.parse(ended.said) as readonly RunResult[];
    },
    tried: async (job) => {
      const ended = await start(job);
      if (ended.signal === 'SIGKILL') return true;
      expect(ended, ended.errors).toMatchObject({ code: 0 });
      return false;
    },
    effects: () => effectsIn(path.join(directory, 'effects')),
    events: () => eventsIn(directory),
  };
}

interface Ended {
  readonly code: number;
  readonly signal: string | null;
  readonly said: string;
  readonly errors: string;
}

function run(job: object): Promise<Ended> {
  return new Promise((resolve) => {
    const args = ['--no-warnings', worker, JSON.stringify(job)];
    execFile(process.execPath, args, (error, said, errors) => {
      const { code = 0, signal = null } = (error ?? {}) as { code?: number; signal?: string };
      resolve({ code: code ?? 0, signal, said, errors });
    });
  });
}

function effectsIn(file: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of readLines(file)) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

async function eventsIn(directory: string): Promise<readonly EventEnvelope[]> {
  const storage = createLocalRunStorage({ directory, namespace: 'kills' });
  const events = await eventsOf(storage, 'r1');
  await storage.close();
  return events;
}

/** What holds for every history, whatever was killed: no gap, and each thing once. */
export function expectSound(events: readonly EventEnvelope[]): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_event, index) => index + 1));
  for (const once of ['node-dispatched', 'node-attempt-started', 'node-completed']) {
    const positions = events
      .filter(({ type }) => type === `graph:${once}`)
      .map(({ payload }) => positionOf(payload));
    expect(new Set(positions).size, `${once} twice`).toBe(positions.length);
  }
}

interface AboutPosition {
  readonly position?: string;
  readonly identity?: { readonly position: string; readonly attemptId: string };
}

/** The position that an event is about. */
export function positionOf(payload: EventEnvelope['payload']): string {
  const { position, identity } = payload as unknown as AboutPosition;
  return position ?? identity?.position ?? '';
}

/** The attempt that a start record names. */
export function attemptIdOf(start: EventEnvelope | undefined): string {
  return (start?.payload as unknown as AboutPosition | undefined)?.identity?.attemptId ?? '';
}
