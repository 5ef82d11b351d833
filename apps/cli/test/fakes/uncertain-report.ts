/** A report whose process died while it published. */
import {
  compileGraph,
  createGraphExecutor,
  dataNode,
  flowDefinition,
  flowGraphType,
  flowNodes,
} from 'holdfast';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { reportFlow } from '../../src/report/report-flow.ts';
import type { Workspace } from './workspace.ts';

/** Lets a report pause, approves it, and stops dead in `publish`; resolves with its run id. */
export async function leaveReportUncertain(place: Workspace, repo: string): Promise<string> {
  const paused = await place.json(['report', '--repo', repo]);
  const runId = String(paused.document['runId']);
  const { flow, functions } = reportFlow({ directory: place.store });
  const graph = compileGraph(flowGraphType, flowDefinition(flow));
  const storage = createLocalRunStorage({ directory: place.store, namespace: 'local' });
  const halt = new AbortController();
  const publish = dataNode(
    () => {
      halt.abort();
      return new Promise(() => {});
    },
    { graceMs: 0 },
  );
  const nodes = { ...flowNodes(flow, functions), publish };
  const executor = await createGraphExecutor({ runId, graph, storage, nodes });
  const [pause] = await executor.pauses();
  await executor.answer(pause?.pauseId ?? '', true, { by: 'test' });
  await executor.run(halt.signal).catch(() => {});
  await storage.close();
  return runId;
}
