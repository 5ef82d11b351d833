/**
 * The graphs of the workloads. Chains and fan-outs are dags; loops are flows, since a dag has none.
 * Every step is a user's node function that returns about 100 bytes.
 */
import {
  type AnyCompiledGraph,
  compileGraph,
  type DagDefinition,
  dagGraphType,
  dataNode,
  type FlowFile,
  flowDefinition,
  flowGraphType,
  flowNodes,
  type GraphEngineBinding,
  type JsonValue,
  localPlan,
  type NodeBindings,
  type ResolvedPlanSnapshot,
} from 'holdfast';

/** A graph and the code of its nodes; the code is called anew for every run. */
export interface BenchGraph {
  readonly graph: AnyCompiledGraph;
  readonly plan: ResolvedPlanSnapshot;
  readonly nodes: (onStep: () => void) => NodeBindings;
  /** The engines of its lanes. */
  readonly engines?: readonly GraphEngineBinding[];
}

const PADDING = 'x'.repeat(80);

function resultOf(step: number): JsonValue {
  return { step, value: PADDING };
}

function dag(id: string, names: readonly string[], edges: DagDefinition['edges']): BenchGraph {
  const definition: DagDefinition = {
    id,
    definitionVersion: 1,
    data: {
      globalConcurrency: 2_000,
      keyedConcurrency: {},
      stopOnError: true,
      retryCapPerNode: 0,
    },
    nodes: names.map((name) => ({ id: name, data: { kind: 'required', key: null } })),
    edges,
  };
  const graph = compileGraph(dagGraphType, definition) as unknown as AnyCompiledGraph;
  return {
    graph,
    plan: localPlan(graph),
    nodes: (onStep) => {
      let step = 0;
      const node = dataNode(() => {
        onStep();
        step += 1;
        return resultOf(step);
      });
      return Object.fromEntries(names.map((name) => [name, node]));
    },
  };
}

function edge(place: number, source: string, target: string): DagDefinition['edges'][number] {
  return { id: `e${place}`, source, target, data: {} };
}

/** `length` nodes, one after the other. */
export function chain(length: number): BenchGraph {
  const names = Array.from({ length }, (_, place) => `n${place}`);
  const edges = names.slice(1).map((name, place) => edge(place, names[place] ?? '', name));
  return dag('chain', names, edges);
}

/** One node, then `width` beside one another, then one that joins them. */
export function fanOut(width: number): BenchGraph {
  const branches = Array.from({ length: width }, (_, place) => `b${place}`);
  const edges = branches.flatMap((name, place) => [
    edge(place * 2, 'first', name),
    edge(place * 2 + 1, name, 'last'),
  ]);
  return dag('fan-out', ['first', ...branches, 'last'], edges);
}

/** A loop around one task: each iteration is two steps, the loop's own and the task's. */
export function loop(iterations: number): BenchGraph {
  const flow: FlowFile = {
    id: 'loop',
    nodes: [
      { id: 'start', type: 'trigger', config: {} },
      { id: 'loop', type: 'control.loop', config: { maxIterations: iterations } },
      { id: 'body', type: 'task', config: { function: 'body' } },
      { id: 'end', type: 'end', config: {} },
    ],
    edges: [
      { id: 'e0', source: 'start', target: 'loop' },
      { id: 'e1', source: 'loop', target: 'body', sourceHandle: 'body' },
      { id: 'e2', source: 'body', target: 'loop', targetHandle: 'next' },
      { id: 'e3', source: 'loop', target: 'end', sourceHandle: 'done' },
    ],
  };
  const graph = compileGraph(flowGraphType, flowDefinition(flow)) as unknown as AnyCompiledGraph;
  return {
    graph,
    plan: localPlan(graph),
    nodes: (onStep) => {
      let step = 0;
      const body = (): JsonValue => {
        onStep();
        step += 1;
        return resultOf(step);
      };
      return flowNodes(flow, { body });
    },
  };
}
