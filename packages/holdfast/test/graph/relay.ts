/** A small graph type for tests: one node after the other, in declaration order. */
import type {
  GraphDefinition,
  GraphDescriptionInput,
  GraphEvent,
  GraphType,
  GraphTypeCompilation,
} from 'holdfast/graph';
import { createGraphEventTrace, type GraphTypeConformanceFixture } from 'holdfast/testing';

export type RelayState = { readonly passed: number; readonly running: boolean };
export type Unused = { readonly memory: 'unused' };
export type RelayCompilation = GraphTypeCompilation<RelayState, GraphEvent, Unused>;
export type RelayType = GraphType<GraphDefinition, RelayState, GraphEvent, Unused>;

export const relayDefinition: GraphDefinition = {
  id: 'relay',
  definitionVersion: 1,
  data: {},
  nodes: [
    { id: 'one', data: {} },
    { id: 'two', data: {} },
  ],
  edges: [{ id: 'one-two', source: 'one', target: 'two', data: {} }],
};

export function describeRelay(definition: GraphDefinition): GraphDescriptionInput {
  const count = definition.nodes.length;
  return {
    inputContract: {},
    outputContract: {},
    phases: [{ id: 'all', name: 'All', nodeIds: definition.nodes.map(({ id }) => id) }],
    nodes: definition.nodes.map(({ id }) => ({
      id,
      phaseId: 'all',
      inputContract: {},
      outputContract: {},
      laneId: null,
    })),
    policies: {
      retry: null,
      stop: null,
      concurrency: null,
      write: null,
      budget: null,
      action: null,
    },
    executionLanes: [],
    requestedPermissions: [],
    bounds: {
      dispatches: {
        min: { kind: 'known', value: count },
        max: { kind: 'known', value: count },
      },
      maxConcurrency: { kind: 'known', value: 1 },
      maxFanOut: { kind: 'known', value: 1 },
    },
  };
}

export function compileRelay(definition: GraphDefinition): RelayCompilation {
  return {
    requirements: { memory: 'unused' },
    initialState: () => ({ passed: 0, running: false }),
    reduce: (state, event) => {
      if (event.type === 'node-dispatched') return { ...state, running: true };
      if (event.type === 'node-completed') return { passed: state.passed + 1, running: false };
      return state;
    },
    decide: ({ passed, running }) => {
      if (running) return [];
      const node = definition.nodes[passed];
      if (node === undefined) return [{ kind: 'complete', output: { passed } }];
      return [{ kind: 'dispatch', nodeId: node.id, input: { passed }, position: `at/${node.id}` }];
    },
    describe: () => describeRelay(definition),
  };
}

/** The relay with some of its operations replaced: how the kit's mutants are made. */
export function relayWith(
  change: (sound: RelayCompilation, definition: GraphDefinition) => Partial<RelayCompilation>,
): RelayType {
  return {
    kind: 'relay',
    version: 1,
    compile: (definition) => {
      const sound = compileRelay(definition);
      return { ...sound, ...change(sound, definition) };
    },
  };
}

const trace = createGraphEventTrace();
for (const nodeId of ['one', 'two']) {
  trace.record({ type: 'node-dispatched', version: 1, payload: { nodeId } });
  trace.record({ type: 'node-completed', version: 1, payload: { nodeId } });
}
export const relayEvents: readonly GraphEvent[] = trace.events;

const identity = {
  source: 'npm:relay',
  version: '1.0.0',
  digest: `sha256:${'1'.repeat(64)}`,
} as const;

export function relayFixture(
  graphType: RelayType,
): GraphTypeConformanceFixture<GraphDefinition, RelayState, GraphEvent, Unused> {
  return {
    graphType,
    definition: relayDefinition,
    events: relayEvents,
    invalidDefinitions: [{ ...relayDefinition, id: '' }],
    planResolution: {
      package: identity,
      admission: { package: identity, permissions: [] },
      executionLanes: [],
    },
    expected: {
      states: [
        { passed: 0, running: false },
        { passed: 0, running: true },
        { passed: 1, running: false },
        { passed: 1, running: true },
        { passed: 2, running: false },
      ],
      commands: [
        [{ kind: 'dispatch', nodeId: 'one', input: { passed: 0 }, position: 'at/one' }],
        [],
        [{ kind: 'dispatch', nodeId: 'two', input: { passed: 1 }, position: 'at/two' }],
        [],
        [{ kind: 'complete', output: { passed: 2 } }],
      ],
      bounds: describeRelay(relayDefinition).bounds,
    },
  };
}
