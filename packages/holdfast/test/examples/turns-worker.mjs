/**
 * Takes turns on a stored run and kills itself, as it is told: at the n-th call of the writer or of
 * an engine, or before or after the n-th append. Prints what the example would print.
 */
import process from 'node:process';
import {
  openStorage,
  openTurns,
  reconcileWriter,
  reportOf,
  takeTurns,
} from '../../../../examples/dist/packages/turn-taking.js';

const { directory, kill, reconcile } = JSON.parse(process.argv[2] ?? '{}');
let left = kill?.at ?? 0;

function pass(what) {
  if (kill?.what !== what) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

/** A storage that passes each append on and is watched before and after it. */
function watched(storage) {
  const eventStore = new Proxy(storage.eventStore, {
    get(store, name) {
      const value = store[name];
      if (name !== 'append') return typeof value === 'function' ? value.bind(store) : value;
      return async (...args) => {
        pass('before-append');
        const receipt = await store.append(...args);
        pass('after-append');
        return receipt;
      };
    },
  });
  return { ...storage, eventStore };
}

const storage = watched(openStorage(directory));
const executor = await openTurns(storage, pass);
if (reconcile !== undefined) await reconcileWriter(executor, reconcile.kind, reconcile.result);
const result = await takeTurns(executor);
process.stdout.write(result.kind === 'pause' ? 'waits' : await reportOf(storage, result));
await storage.close();
