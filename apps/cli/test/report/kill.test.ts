/** Real processes of the built command, killed with SIGKILL. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crashDemo } from '../../src/demo/crash-demo.ts';
import { TestRepository } from '../fakes/repository.ts';
import { Workspace } from '../fakes/workspace.ts';

const script = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const examples = fileURLToPath(new URL('../../../../examples/', import.meta.url));
const run = promisify(execFile);

describe('the built command', () => {
  const place = new Workspace();

  beforeAll(() => {
    const repository = new TestRepository(place.path('shop'));
    repository.commit('Begin', { 'README.md': '# Shop\n' });
  });

  afterAll(() => {
    place.remove();
  });

  it('a report killed at random points completes, and is published once', async () => {
    const said: string[] = [];
    const completed = await crashDemo({
      seed: 4,
      repository: place.path('shop'),
      script,
      maxKills: 8,
      print: (line) => said.push(line),
    });
    expect(completed).toBe(true);
    expect(said.filter((line) => line.includes('SIGKILL')).length).toBeGreaterThan(1);
    expect(said.at(-1)).toMatch(/kills, seed 4; 17 decisions verified; published once\.$/);
  });

  it('runs a flow whose functions are TypeScript', async () => {
    const args = ['run', `${examples}flows/survey.json`, '--input', '{"words":["a"]}', '--json'];
    const { stdout, code } = await run(process.execPath, [
      script,
      ...args,
      '--directory',
      place.store,
    ])
      .then(({ stdout }) => ({ stdout, code: 0 }))
      .catch((error: { stdout: string; code: number }) => error);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'paused', pauses: [{ nodeId: 'ask' }] });
  });

  it('the first flow stands in the README, and has at most twenty lines', () => {
    const flow = readFileSync(`${examples}first-flow.ts`, 'utf8');
    const readme = readFileSync(
      fileURLToPath(new URL('../../../../README.md', import.meta.url)),
      'utf8',
    );
    expect(flow.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
    expect(readme).toContain(flow);
  });
});
