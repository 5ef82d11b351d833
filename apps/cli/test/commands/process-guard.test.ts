/** Real processes of the built command, whose node code does what it must not. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { chainFlow, type Document, Workspace } from '../fakes/workspace.ts';

const script = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

describe('node code that gets at the process', () => {
  const place = new Workspace();
  let count = 0;

  afterAll(() => {
    place.remove();
  });

  function run(module: string, ...options: readonly string[]) {
    const id = `f${count++}`;
    place.write(`${id}.json`, chainFlow(id, 'work'));
    place.write(`${id}.mjs`, module);
    const args = [script, 'run', `${id}.json`, '--run-id', id, ...options];
    return spawnSync(process.execPath, args, { cwd: place.folder, encoding: 'utf8' });
  }

  it.each([
    [
      'a rejection',
      'export const work = () => { Promise.reject(new Error("lost")); ' +
        'return new Promise((r) => setTimeout(r, 5e3)); };',
      'Error: lost',
    ],
    [
      'a throwing timer',
      'export const work = () => new Promise(() => { ' +
        'setTimeout(() => { throw new RangeError("late"); }, 1); });',
      'RangeError: late',
    ],
    ['an exit', 'export const work = () => process.exit(0);', 'ended the process with 0'],
  ])('%s in a node is one typed error, and the run can go on', (_name, module, message) => {
    const { status, stdout } = run(module, '--json');
    const document = JSON.parse(stdout) as Document;
    expect(status).toBe(7);
    expect(document).toMatchObject({ exitCode: 7, error: { code: 'NODE_ESCAPED' } });
    expect(document.error?.message).toContain(message);
    expect(document['next']).toMatch(/ resume f\d+$/);
  });

  it.each([
    [
      'ends the process',
      'process.exit(0); export const work = () => 1;',
      'ended the process with 0',
    ],
    ['never settles', 'await new Promise(() => {}); export const work = () => 1;', 'never settles'],
  ])('a module that %s is told of on standard error', (_name, module, message) => {
    const { status, stdout, stderr } = run(module);
    expect(status).toBe(7);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^NODE_ESCAPED: /);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('Warning');
  });

  it('what node code prints never stands in the document of --json', () => {
    const { status, stdout, stderr } = run(
      'console.log("m"); export const work = () => { ' +
        'console.info("c"); process.stdout.write("w\\n"); return 1; };',
      '--json',
    );
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'complete' });
    expect(stderr).toBe('m\nc\nw\n');
  });

  it('the exit code of a command that is done stays', () => {
    const { status, stdout } = run(
      'export const work = () => { setTimeout(() => process.exit(9), 300); return 1; };',
    );
    expect(stdout).toContain('complete');
    expect(status).toBe(0);
  });
});
