/**
 * A flow of about sixty occurrences with everything in it that a kill can hit: a chain, a fan-out
 * with a join, a loop, a map, sub-steps, a retry, tasks that are retry-safe and tasks that are not.
 */

const CHAIN = 10;
const WIDTH = 12;
const ROUNDS = 6;

export function longFlow(tools) {
  const parts = partsWith(tools);
  const { nodes, edges, functions } = parts;
  addTail(parts, addMap(parts, addFan(parts, addChain(parts))), tools);
  return { file: { id: 'long', nodes, edges }, functions };
}

/** The growing flow: `task` adds a node that marks its effect, `link` an edge. */
function partsWith({ effect, point }) {
  const nodes = [{ id: 'start', type: 'trigger', config: {} }];
  const edges = [];
  const functions = {};
  const link = (source, target, handles = {}) => {
    edges.push({ id: `e${edges.length}`, source, target, ...handles });
  };
  const task = (id, config = {}) => {
    nodes.push({ id, type: 'task', config: { function: id, ...config } });
    functions[id] = async (_input, context) => {
      await point(`enter:${id}`);
      effect(context.position);
      await point(`leave:${id}`);
      return id;
    };
    return id;
  };
  return { nodes, edges, functions, link, task, effect, point };
}

function addChain({ task, link }) {
  let last = 'start';
  for (let index = 0; index < CHAIN; index += 1) {
    const id = task(`chain-${index}`, { retrySafe: index % 2 === 0 });
    link(last, id);
    last = id;
  }
  return last;
}

function addFan({ task, link }, last) {
  task('join', { retrySafe: true });
  for (let index = 0; index < WIDTH; index += 1) {
    const id = task(`wide-${index}`, { retrySafe: index % 3 === 0 });
    link(last, id);
    link(id, 'join');
  }
  return 'join';
}

function addMap({ nodes, functions, link, effect, point }, last) {
  const config = { items: '[1, 2, 3, 4, 5, 6]', function: 'each', maxConcurrency: 2 };
  nodes.push({ id: 'map', type: 'control.map', config });
  functions.each = async (item, context) => {
    await point(`enter:item-${item}`);
    effect(`${context.position} item ${item}`);
    await point(`leave:item-${item}`);
    return item;
  };
  link(last, 'map');
  return 'map';
}

/** A loop, a task that fails twice, and one with sub-steps. */
function addTail({ nodes, functions, link, task, effect, point }, last, { count }) {
  nodes.push({ id: 'loop', type: 'control.loop', config: { maxIterations: ROUNDS } });
  link(last, 'loop');
  task('body', { retrySafe: false });
  task('tail', { retrySafe: true });
  link('loop', 'body', { sourceHandle: 'body' });
  link('body', 'tail');
  link('tail', 'loop', { targetHandle: 'next' });

  task('flaky', { retrySafe: true, retry: { max: 3, delayMs: 0 } });
  functions.flaky = async (_input, context) => {
    effect(context.position);
    await point('leave:flaky');
    if (!context.position.includes('/3')) throw new Error(`${count('flaky')} is not enough`);
    return 'flaky';
  };
  link('loop', 'flaky', { sourceHandle: 'done' });

  task('stepped', { retrySafe: true });
  functions.stepped = async (_input, context) => {
    for (const name of ['one', 'two', 'three']) {
      await context.step(name, async () => {
        await point(`enter:${name}`);
        effect(`${context.position} step ${name}`);
        await point(`leave:${name}`);
      });
    }
    return 'stepped';
  };
  link('flaky', 'stepped');
}
