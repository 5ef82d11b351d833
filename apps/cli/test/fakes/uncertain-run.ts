/** A run whose process died while node code ran: the executor is halted without any grace. */
import {
  compileGraph,
  createGraphExecutor,
  dataNode,
  type FlowFile,
  flowDefinition,
  flowGraphType,
  startRun,
} from 'holdfast';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { readJsonFile } from '../../src/flow-file/read-json.ts';
import { writeRunSource } from '../../src/flow-file/run-source.ts';
import type { Workspace } from './workspace.ts';

/** Starts the chain of `flowName` and stops dead while its first task runs. */
export async function leaveUncertain(
  place: Workspace,
  flowName: string,
  runId: string,
): Promise<void> {
  const file = place.path(flowName);
  const flow = readJsonFile(file, 'The flow') as unknown as FlowFile;
  const graph = compileGraph(flowGraphType, flowDefinition(flow));
  const storage = createLocalRunStorage({ directory: place.store, namespace: 'local' });
  writeRunSource(place.store, runId, { flow: file, module: file.replace('.json', '.mjs') });
  await startRun(storage, { runId, graph, input: {} });
  const halt = new AbortController();
  const nodes = Object.fromEntries(
    flow.nodes.map(({ id, type }) => [
      id,
      type === 'trigger'
        ? dataNode(() => ({ output: {} }))
        : dataNode(
            () => {
              halt.abort();
              return new Promise(() => {});
            },
            { graceMs: 0 },
          ),
    ]),
  );
  const executor = await createGraphExecutor({ runId, graph, storage, nodes });
  await executor.run(halt.signal).catch(() => {});
  await storage.close();
}
