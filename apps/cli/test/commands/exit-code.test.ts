import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { currentOwner } from 'holdfast';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakePrompter } from '../fakes/terminal.ts';
import { askFlow, askModule, chainFlow, Workspace } from '../fakes/workspace.ts';

describe('exit codes (0, 1 and 3 stand with run)', () => {
  let place: Workspace;

  beforeEach(() => {
    place = new Workspace();
    place.write('ask.json', askFlow);
    place.write('ask.mjs', askModule);
  });

  afterEach(() => {
    place.remove();
  });

  it('4: a living process drives the run', async () => {
    await place.call(['run', 'ask.json', '--run-id', 'r1', '--input', '{"what":1}']);
    const storage = createLocalRunStorage({ directory: place.store, namespace: 'local' });
    await storage.leaseStore.acquire('r1', currentOwner('other'), 60_000, { takeover: 'never' });
    const { exitCode, document } = await place.json(['resume', 'r1']);
    await storage.close();
    expect(exitCode).toBe(4);
    expect(document.error?.code).toBe('RUN_OWNED');
  });

  /** A flow whose task says when it runs, and ends when it may, or when it is told to stop. */
  function writeSlow(): { readonly started: Promise<void>; readonly letGo: () => void } {
    const gate = { start: () => {}, letGo: () => {} };
    const started = new Promise<void>((resolve) => {
      gate.start = resolve;
    });
    const may = new Promise<void>((resolve) => {
      gate.letGo = resolve;
    });
    (globalThis as Record<string, unknown>)['holdfastGate'] = { may, start: () => gate.start() };
    const flow = JSON.stringify(chainFlow('slow', 'wait', 'after'));
    place.write('slow.json', flow.replaceAll('"function"', '"retrySafe":true,"function"'));
    place.write(
      'slow.mjs',
      `export const wait = (_given, { signal }) => new Promise((resolve, reject) => {
         globalThis.holdfastGate.start();
         globalThis.holdfastGate.may.then(() => resolve('finished'));
         signal.addEventListener('abort', () => reject(signal.reason));
       });
       export const after = () => 'after';`,
    );
    return { started, letGo: () => gate.letGo() };
  }

  it('5: the first Ctrl-C lets what runs finish and starts nothing more', async () => {
    const { started, letGo } = writeSlow();
    const said = await place.call(['run', 'slow.json', '--run-id', 's', '--json'], {
      during: (terminal) => {
        void started.then(() => {
          terminal.interrupt();
          letGo();
        });
      },
    });
    expect(said.exitCode).toBe(5);
    expect(JSON.parse(said.out)).toMatchObject({ status: 'stopped', next: 'holdfast resume s' });
    const { document } = await place.json(['show', 's']);
    const shown = document['occurrences'] as { nodeId: string; status: string }[];
    expect(shown.map(({ nodeId, status }) => [nodeId, status])).toEqual([
      ['start', 'completed'],
      ['wait', 'completed'],
    ]);
    expect((await place.call(['resume', 's'])).exitCode).toBe(0);
  });

  it('5: the second Ctrl-C stops at once, and the run can go on', async () => {
    const { started, letGo } = writeSlow();
    const said = await place.call(['run', 'slow.json', '--run-id', 's'], {
      during: (terminal) => {
        void started.then(() => {
          terminal.interrupt();
          terminal.interrupt();
        });
      },
    });
    expect(said.exitCode).toBe(5);
    expect(said.out).toContain('Nothing is lost.');
    letGo();
    expect((await place.call(['resume', 's'])).exitCode).toBe(0);
  });

  it('6: a damaged store', async () => {
    mkdirSync(place.store);
    writeFileSync(path.join(place.store, 'holdfast.db'), 'this is no database '.repeat(500));
    const { exitCode, document } = await place.json(['list']);
    expect(exitCode).toBe(6);
    expect(document.error?.code).toBe('STORE_CORRUPT');
  });

  it('7: a fault that is none of ours, without its stack unless it is asked for', async () => {
    const broken = {
      ...fakePrompter([]),
      choose: () => Promise.reject(new TypeError('prompts are broken')),
    };
    const args = ['run', 'ask.json', '--input', '{"what":1}'];
    const call = { isInteractive: true, prompter: broken };
    const said = await place.call(args, call);
    expect(said.exitCode).toBe(7);
    expect(said.err).toBe(
      'UNEXPECTED: prompts are broken\n' +
        'Next: Run it again with --verbose and report what it shows.\n',
    );
    expect((await place.call([...args, '--verbose'], call)).err).toMatch(/\n +at /);
  });

  it('0: help and the version', async () => {
    expect(await place.call(['--version'])).toEqual({ exitCode: 0, out: '0.1.0\n', err: '' });
    const { exitCode, out } = await place.call(['run', '--help']);
    expect(exitCode).toBe(0);
    expect(out).toContain('--run-id <id>');
    expect((await place.call([])).out).toContain('Exit codes:');
  });
});
