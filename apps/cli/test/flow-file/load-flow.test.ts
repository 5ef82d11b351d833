import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { defineFlow, isHoldfastError, task } from 'holdfast';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { functionsOf, loadFlow } from '../../src/flow-file/load-flow.ts';
import { loadModule } from '../../src/flow-file/load-module.ts';
import { readRunSource, writeRunSource } from '../../src/flow-file/run-source.ts';
import { chainFlow, Workspace } from '../fakes/workspace.ts';

describe('loading flows and modules', () => {
  let place: Workspace;

  beforeEach(() => {
    place = new Workspace();
  });

  afterEach(() => {
    place.remove();
  });

  it('finds the module beside the flow file', async () => {
    const file = place.write('a.json', chainFlow('a', 'work'));
    place.write('a.mjs', 'export const work = () => 1;');
    const loaded = await loadFlow(file);
    expect(Object.keys(functionsOf(loaded))).toEqual(['work']);
  });

  it('prefers the module that was named', async () => {
    const file = place.write('a.json', chainFlow('a', 'work'));
    place.write('a.mjs', 'export const other = () => 1;');
    const module = place.write('b.mjs', 'export const work = () => 1;');
    const loaded = await loadFlow(file, { module });
    expect(Object.keys(functionsOf(loaded))).toEqual(['work']);
  });

  it('says which functions are needed when there is no module', async () => {
    const loaded = await loadFlow(place.write('a.json', chainFlow('a', 'work')));
    expect(codeOf(() => functionsOf(loaded))).toBe('MODULE_MISSING');
  });

  it('takes functions whose names are no identifiers, and flows made in code', async () => {
    const flow = JSON.stringify(defineFlow({ id: 'coded', nodes: { one: task(() => 1) } }).flow);
    const file = place.write(
      'm.mjs',
      'export const functions = { "a.undo": () => 1, "__proto__x": () => 2 };' +
        `export const coded = { flow: ${flow}, functions: { one: () => 1 } };`,
    );
    const { functions, flows } = await loadModule(file);
    expect(Object.keys(functions).sort()).toEqual(['__proto__x', 'a.undo', 'one']);
    expect(flows.map((defined) => defined.flow.id)).toEqual(['coded']);
    expect((await loadFlow(file)).flow.id).toBe('coded');
  });

  it('reads the flows of subflows, and those of these, once', async () => {
    const sub = (id: string, flow: string) => ({
      id,
      nodes: [
        { id: 's', type: 'trigger', config: {} },
        { id: 'c', type: 'subflow', config: { flow, input: {} } },
      ],
      edges: [{ id: 'e', source: 's', target: 'c' }],
    });
    const file = place.write('a.json', sub('a', 'deep/b'));
    place.write('deep/b.json', sub('b', 'c.json'));
    place.write('c.json', sub('c', 'a'));
    const { flows } = await loadFlow(file);
    expect(Object.keys(flows).sort()).toEqual(['a', 'c.json', 'deep/b']);
  });

  it.each([
    ['a module that throws', 'throw new Error("on the way in");', 'MODULE_FAILED'],
    ['a module without a flow', 'export const work = () => 1;', 'MODULE_FAILED'],
  ])('refuses %s', async (_what, content, code) => {
    const file = place.write('m.mjs', content);
    await expect(loadFlow(file)).rejects.toMatchObject({ code });
  });

  it('remembers where code is in paths that may move with the store', () => {
    const flow = place.path('flows/a.json');
    writeRunSource(place.store, 'r1', { flow, module: null });
    expect(readRunSource(place.store, 'r1')).toEqual({ flow, module: null });
    expect(readRunSource(place.store, 'r1.c7')).toEqual({ flow, module: null });
    expect(readRunSource(place.store, 'r2')).toBeNull();
  });

  it.skipIf(!existsSync('/dev/full'))('a full disk is the fault of no file', () => {
    const sources = path.join(place.store, 'sources');
    mkdirSync(sources, { recursive: true });
    symlinkSync('/dev/full', path.join(sources, `r9.json.${process.pid}.tmp`));
    const write = () =>
      writeRunSource(place.store, 'r9', { flow: place.path('a.json'), module: null });
    expect(codeOf(write)).toBe('STORE_FULL');
    expect(readdirSync(sources).filter((name) => name.startsWith('r9'))).toEqual([]);
  });
});

function codeOf(run: () => unknown): string {
  try {
    run();
    return 'nothing was thrown';
  } catch (error) {
    return isHoldfastError(error) ? error.code : String(error);
  }
}
