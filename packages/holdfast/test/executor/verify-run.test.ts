import {
  type AnyCompiledGraph,
  compileGraph,
  createGraphExecutor,
  dataNode,
  defineFlow,
  type EventEnvelope,
  flowDefinition,
  flowGraphType,
  flowNodes,
  type GraphCommand,
  type GraphEvent,
  type JsonValue,
  loop,
  NodeFailure,
  type RunStorage,
  startRun,
  task,
  verifyRun,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { describe, expect, it } from 'vitest';

const stream = { namespace: 'verify', streamId: 'r1' };

/** Two tasks side by side behind the trigger, and their join. */
const joined = defineFlow({
  id: 'joined',
  nodes: { left: task(() => 1), right: task(() => 2), sum: task(() => 3) },
  edges: [
    ['left', 'sum'],
    ['right', 'sum'],
  ],
});

type Flow = Pick<typeof joined, 'flow' | 'functions'>;

function graphOf({ flow }: Pick<Flow, 'flow'>): AnyCompiledGraph {
  return compileGraph(flowGraphType, flowDefinition(flow));
}

async function ran(defined: Flow): Promise<RunStorage> {
  const storage = createMemoryRunStorage({ namespace: 'verify' });
  const graph = graphOf(defined);
  const nodes = flowNodes(defined.flow, defined.functions);
  await startRun(storage, { runId: 'r1', graph, input: {} });
  await (await createGraphExecutor({ runId: 'r1', graph, storage, nodes })).run();
  return storage;
}

/** The same log in another store, changed by `edit`. */
async function copied(
  from: RunStorage,
  edit: (event: EventEnvelope) => JsonValue,
): Promise<RunStorage> {
  const to = createMemoryRunStorage({ namespace: 'verify' });
  const index = { status: 'running', graphId: 'joined' } as const;
  let end = 0;
  for await (const event of from.eventStore.read(stream)) {
    const { type, version, timestamp } = event;
    const changed = { type, version, timestamp, payload: edit(event) };
    await to.eventStore.append(stream, end, [changed], end === 0 ? { index } : {});
    end += 1;
  }
  return to;
}

/** Replaces parts of the payload of one type of event. */
function change(type: string, parts: object): (event: EventEnvelope) => JsonValue {
  return (event) =>
    event.type === type ? { ...(event.payload as object), ...(parts as object) } : event.payload;
}

/** Dispatches both sides, and fails with the names of those that have failed. */
class FailsAtOnce {
  readonly #failed: string[] = [];
  #begun = false;

  decide(): readonly GraphCommand[] {
    const message = this.#failed.join(' and ');
    if (message !== '') return [{ kind: 'fail', code: 'BROKEN', message }];
    if (this.#begun) return [];
    return ['left', 'right'].map((nodeId) => {
      return { kind: 'dispatch', nodeId, position: `side/${nodeId}`, input: {} };
    });
  }

  apply({ type, payload }: GraphEvent): void {
    this.#begun = true;
    const { nodeId } = payload as { readonly nodeId: string };
    if (type === 'node-failed') this.#failed.push(nodeId);
  }

  state(): JsonValue {
    return [...this.#failed];
  }

  save(): JsonValue {
    return this.state();
  }
}

const verify = (storage: RunStorage, graph = graphOf(joined)) =>
  verifyRun(storage, { runId: 'r1', graph });

describe('verifyRun', () => {
  it('makes every recorded decision again', async () => {
    const storage = await ran(joined);
    expect(await verify(storage)).toEqual({
      runId: 'r1',
      sequence: await storage.eventStore.end(stream),
      // The trigger; both branches at once; the join; the end.
      decisions: 4,
      verifiedFrom: 1,
      snapshot: null,
    });
  });

  it.each([
    [
      'another input of a dispatch',
      'graph:node-dispatched',
      { inputDigest: `sha256:${'0'.repeat(64)}` },
    ],
    ['another output', 'graph:run-finished', { output: { nodes: { sum: 4 } } }],
    [
      'another end',
      'graph:run-finished',
      { outcome: 'fail', output: undefined, code: 'X', message: 'x' },
    ],
  ])('refuses %s', async (_what, type, parts) => {
    const edit = change(type, parts);
    const storage = await copied(await ran(joined), (event) => {
      return JSON.parse(JSON.stringify(edit(event))) as JsonValue;
    });
    await expect(verify(storage)).rejects.toMatchObject({ code: 'DETERMINISM_VIOLATION' });
  });

  it('refuses an event that breaks the rules of the record, by its sequence', async () => {
    const storage = await copied(
      await ran(joined),
      change('graph:node-completed', { nodeId: 'sum' }),
    );
    await expect(verify(storage)).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      details: { sequence: 4 },
    });
  });

  it('refuses graph code that decides otherwise', async () => {
    const storage = await ran(joined);
    const graph = graphOf(joined);
    const open = (saved?: JsonValue) => {
      const cursor = graph.open(saved);
      const apply = (event: Parameters<typeof cursor.apply>[0]) => cursor.apply(event);
      const decide = () => [...cursor.decide()].reverse();
      return { ...cursor, apply, decide, state: () => cursor.state(), save: () => cursor.save() };
    };
    const changed = { ...graph, open } as AnyCompiledGraph;
    await expect(verify(storage, changed)).rejects.toMatchObject({ code: 'DETERMINISM_VIOLATION' });
  });

  it('refuses another graph and an unknown run', async () => {
    const other = defineFlow({ id: 'other', nodes: { one: task(() => 1) } });
    const storage = await ran(joined);
    await expect(verify(storage, graphOf(other))).rejects.toMatchObject({
      code: 'STORED_GRAPH_MISMATCH',
    });
    const empty = createMemoryRunStorage({ namespace: 'verify' });
    await expect(verify(empty)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  });

  it('accepts a failure that was decided while another attempt was in flight', async () => {
    const storage = createMemoryRunStorage({ namespace: 'verify' });
    const graph = { ...graphOf(joined), open: () => new FailsAtOnce() } as AnyCompiledGraph;
    let fail: (error: Error) => void = () => {};
    const unused = dataNode(() => ({}));
    const nodes = {
      trigger: unused,
      sum: unused,
      left: dataNode(() => Promise.reject(new NodeFailure('LEFT', 'left'))),
      right: dataNode(
        () =>
          new Promise((_resolve, reject) => {
            fail = reject;
          }),
      ),
    };
    storage.eventStore.subscribe(stream, 0, (events) => {
      if (events.some(({ type }) => type === 'graph:node-failed')) fail(new Error('right'));
    });
    await startRun(storage, { runId: 'r1', graph, input: {} });
    const result = await (await createGraphExecutor({ runId: 'r1', graph, storage, nodes })).run();
    expect(result).toEqual({ kind: 'fail', code: 'BROKEN', message: 'left' });
    expect((await verify(storage, graph)).decisions).toBe(2);
  });

  describe('with a snapshot', () => {
    const rounds = defineFlow({
      id: 'rounds',
      nodes: { round: loop({ maxIterations: 250 }), work: task(() => 1) },
      edges: [
        ['round.body', 'work'],
        ['work', 'round.next'],
      ],
    });
    const graph = graphOf(rounds);

    it('compares it with the fold of the log', async () => {
      const storage = await ran(rounds);
      const saved = await storage.snapshotStore.newest(stream);
      expect((await verify(storage, graph)).snapshot).toBe(saved?.sequence);
      const body = JSON.stringify(saved?.body).replace('"iteration":', '"iteration":1');
      const sequence = saved?.sequence ?? 0;
      await storage.snapshotStore.save(stream, { sequence, body: JSON.parse(body) as JsonValue });
      const changed = await storage.snapshotStore.newest(stream);
      expect(changed?.body).not.toEqual(saved?.body);
      await expect(verify(storage, graph)).rejects.toMatchObject({ code: 'DETERMINISM_VIOLATION' });
    });

    it('verifies a compacted run from the snapshot on', async () => {
      const storage = await ran(rounds);
      const saved = await storage.snapshotStore.newest(stream);
      await storage.eventStore.compact(stream, saved?.sequence ?? 0);
      const { verifiedFrom, sequence } = await verify(storage, graph);
      expect(verifiedFrom).toBe((saved?.sequence ?? 0) + 1);
      expect(sequence).toBe(await storage.eventStore.end(stream));
    });
  });
});
