/**
 * A process that works on one stored run and may kill itself (SIGKILL) on the way. Its argument is
 * a job; what it has to say is one line of JSON on its standard output.
 *
 * job: { directory, scene, options, acts, kill?, aheadMs?, executor? }
 * - acts, done in order: 'start' · 'run' · 'host' (run, and resume what a dead process left) ·
 *   ['resume', position] · ['answer', answer] · ['reconcile', reconciliation] ·
 *   ['signal', name, id] · 'retry-all' · 'to-the-end' · 'cancel' · 'cancel-inside' ·
 *   'halt-inside' · 'drive' (under the lease, and on into successors)
 * - kill: the point at which the process dies: 'before:<event>', 'after:<event>', 'during:<event>'
 *   of the append that holds that event, 'enter:<name>' or 'leave:<name>' in node code, 'asleep'
 *   when the executor waits for time, 'paused' when `run` has returned a pause; `#n` behind it is
 *   the n-th time. 'any#n' is the n-th of all of them.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  createGraphExecutor,
  createLocalRunStorage,
  createSystemClock,
  driveRun,
  startRun,
  verifyRun,
} from './library.mjs';
import { sceneOf } from './scenes.mjs';

const job = JSON.parse(process.argv[2]);
const effectsFile = path.join(job.directory, 'effects');
const [killPoint, killTime = '1'] = (job.kill ?? '').split('#');
let left = Number(killTime);

/** Dies here if the job says so. */
function point(name) {
  if (killPoint !== name && killPoint !== 'any') return;
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

function effect(name) {
  appendFileSync(effectsFile, `${name}\n`);
}

/** How often an effect happened, over all processes. */
function count(name) {
  const lines = readFileSync(effectsFile, 'utf8').split('\n');
  return lines.filter((line) => line === name).length;
}

/** Node code that stays in flight until it is told to stop. */
let nowHolding = () => {};
const holding = new Promise((resolve) => {
  nowHolding = resolve;
});
function hold(signal) {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')));
    nowHolding();
  });
}

/** An event store that passes a point before, while and after each append. */
function watched(store) {
  const pass = (moment, events) => {
    for (const type of new Set(events.map((event) => event.type))) {
      point(`${moment}:${type.slice('graph:'.length)}`);
    }
  };
  return {
    append: async (stream, expected, events, options) => {
      pass('before', events);
      const appended = store.append(stream, expected, events, options);
      pass('during', events);
      const receipt = await appended;
      pass('after', events);
      return receipt;
    },
    read: (...args) => store.read(...args),
    readAt: (...args) => store.readAt(...args),
    end: (...args) => store.end(...args),
    compact: (...args) => store.compact(...args),
    subscribe: (...args) => store.subscribe(...args),
    sync: () => store.sync(),
  };
}

/** Runs `aheadMs` ahead of the machine; waiting for more than a minute is being asleep. */
function clockAhead(aheadMs) {
  const system = createSystemClock();
  return {
    now: () => system.now() + aheadMs,
    after: (delayMs, callback) => {
      if (delayMs > 60_000) point('asleep');
      return system.after(delayMs, callback);
    },
    soon: (callback) => system.soon(callback),
  };
}

const local = createLocalRunStorage({ directory: job.directory, namespace: 'kills' });
const storage = { ...local, eventStore: watched(local.eventStore) };
const { graph, nodes } = sceneOf(job.scene, { effect, point, count, hold }, job.options ?? {});
const clock = clockAhead(job.aheadMs ?? 0);

function open() {
  return createGraphExecutor({ runId: 'r1', graph, storage, nodes, clock, ...job.executor });
}

/**
 * What a host does with a run: goes on, and re-opens what a dead process left in flight. Then the
 * record is folded from scratch: it must give the same decisions.
 */
async function host(executor) {
  let result = await executor.run();
  while (result.kind === 'waiting' && result.positions.length > 0) {
    result = await executor.resume(result.positions);
  }
  await verifyRun(local, { runId: 'r1', graph });
  return result;
}

async function firstPause(executor) {
  const [pause] = await executor.pauses();
  return pause.pauseId;
}

const acts = {
  start: () => startRun(storage, { runId: 'r1', graph, input: null, clock }),
  run: async () => {
    const result = await (await open()).run();
    if (result.kind === 'pause') point('paused');
    return result;
  },
  host: async () => host(await open()),
  /** Drives it under its lease, and the runs that it continues as. */
  drive: async () => {
    const { runId, result } = await driveRun(storage, { graph, nodes }, { runId: 'r1', clock });
    return { ...result, runId };
  },
  resume: async (positions) => (await open()).resume(positions),
  answer: async (answer) => {
    const executor = await open();
    await executor.answer(await firstPause(executor), answer, { by: 'ada' });
  },
  reconcile: async (reconciliation) => {
    const executor = await open();
    await executor.reconcile(await firstPause(executor), { by: 'ada', ...reconciliation });
  },
  /** Allows every uncertain attempt to run again. */
  'retry-all': async () => {
    const executor = await open();
    for (const { pauseId } of await executor.pauses()) {
      await executor.reconcile(pauseId, { kind: 'retry', by: 'ada', reason: 'looked' });
    }
  },
  /** Goes on to the end, allowing whatever is uncertain to run again. */
  'to-the-end': async () => {
    for (;;) {
      const executor = await open();
      const result = await host(executor);
      if (result.kind !== 'pause') return result;
      await acts['retry-all']();
    }
  },
  signal: async (name, signalId) => (await open()).signal(name, 'hello', { signalId }),
  cancel: async () => (await open()).cancel({ by: 'ada', reason: 'enough' }),
  /** Cancels while `hold` is in flight in this process. */
  'cancel-inside': async () => {
    const executor = await open();
    const running = executor.run();
    await holding;
    await executor.cancel({ by: 'ada', reason: 'enough' });
    return running;
  },
  /** Halts while `hold` is in flight in this process. */
  'halt-inside': async () => {
    const halt = new AbortController();
    const running = (await open()).run(halt.signal);
    await holding;
    halt.abort();
    return running;
  },
};

const said = [];
for (const act of job.acts) {
  const [name, ...args] = typeof act === 'string' ? [act] : act;
  said.push((await acts[name](...args)) ?? null);
}
await local.close();
process.stdout.write(JSON.stringify(said));
