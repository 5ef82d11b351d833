/** W2 or W5 once, without any other database in the process: what `--strace` looks at. */
import { chain } from './graphs.ts';
import { newDirectory, openLocal, runToEnd, store } from './runs.ts';

const [id, parent = ''] = process.argv.slice(2);
const { runs, length } = id === 'W5' ? { runs: 200, length: 50 } : { runs: 1, length: 1_000 };
const graph = chain(length);
const storage = openLocal(newDirectory(parent));
const runIds = Array.from({ length: runs }, (_, place) => `run${place}`);
await Promise.all(runIds.map((runId) => store(storage, graph, runId)));
await Promise.all(runIds.map((runId) => runToEnd(storage, graph, { runId })));
const { syncs } = storage.counters;
await storage.close();
process.stdout.write(JSON.stringify({ steps: runs * length, syncs }));
