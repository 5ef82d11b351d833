/** What a flow tells a host before it runs, and the bounds that can be calculated. */
import { branchesOf } from '../flow/catalogue.ts';
import { edgeHandle } from '../flow/flow-graph.ts';
import type { GraphBounds, GraphDescriptionInput, PlanBound } from '../graph/description.ts';
import type { FlowForm } from './flow-form.ts';

const PHASE = 'flow';

export function describeFlow(form: FlowForm): GraphDescriptionInput {
  const retries = form.nodes.filter(({ retry }) => retry !== null && retry.max > 0);
  return {
    inputContract: {},
    outputContract: {},
    phases: [{ id: PHASE, name: 'Flow', nodeIds: form.nodes.map(({ id }) => id) }],
    nodes: form.nodes.map(({ id }) => ({
      id,
      phaseId: PHASE,
      inputContract: {},
      outputContract: {},
      laneId: null,
    })),
    policies: {
      retry: retries.length === 0 ? null : { nodes: retries.map(({ id }) => id) },
      stop: null,
      concurrency: null,
      write: null,
      budget: null,
      action: null,
    },
    executionLanes: [],
    requestedPermissions: [],
    bounds: boundsOf(form),
  };
}

/** Attempts that a halt interrupted are dispatched again: the host's doing, not counted here. */
function boundsOf(form: FlowForm): GraphBounds {
  const width = isSinglePath(form)
    ? known(1)
    : unknown('an output leads to several nodes, which then run side by side');
  return {
    dispatches: { min: known(certainNodes(form)), max: mostDispatches(form) },
    maxConcurrency: width,
    maxFanOut: width,
  };
}

function mostDispatches({ nodes }: FlowForm): PlanBound {
  if (nodes.some(({ type }) => type === 'control.loop')) {
    return unknown('how often a loop goes round is known only in a run');
  }
  if (nodes.some(({ retry }) => retry !== null && retry.max > 0)) {
    return unknown('how often a failed task is tried again is known only in a run');
  }
  return known(nodes.length + nodes.filter(({ hasUndo }) => hasUndo).length);
}

/** Every output leads to one node at most, and a node chooses one output: nothing runs beside. */
function isSinglePath({ graph }: FlowForm): boolean {
  const taken = new Set<string>();
  return graph.edges.every((edge) => {
    const output = JSON.stringify([edge.source, edgeHandle(edge)]);
    if (taken.has(output)) return false;
    taken.add(output);
    return true;
  });
}

/** How many nodes run in every run that completes: those that no choice can avoid. */
function certainNodes({ topology, graph }: FlowForm): number {
  const { order, inputs, sources, handles } = topology;
  const leavesByError = new Set(
    handles.flatMap((handle, edge) => (handle === 'error' ? [sources[edge]] : [])),
  );
  const certain = new Uint8Array(topology.nodeCount);
  let count = 0;
  for (const node of order) {
    const row = inputs.items.subarray(inputs.starts[node], inputs.starts[node + 1]);
    const runs = row.length === 0 || leadingHandles(row).some(alwaysLeadOn);
    if (!runs) continue;
    certain[node] = 1;
    count += 1;
  }
  return count;

  /** The sources of these edges, each with the outputs that lead from it. */
  function leadingHandles(row: ArrayLike<number>): [number, Set<string>][] {
    const found = new Map<number, Set<string>>();
    for (const edge of Array.from(row)) {
      const source = sources[edge] as number;
      const led = found.get(source) ?? new Set<string>();
      found.set(source, led.add(handles[edge] ?? ''));
    }
    return [...found];
  }

  function alwaysLeadOn([source, found]: [number, Set<string>]): boolean {
    if (certain[source] !== 1) return false;
    const type = graph.nodes[source];
    const branches = type === undefined ? [] : branchesOf(type);
    // A loop may go round no time at all, but it comes out in the end.
    if (type?.type === 'control.loop') return found.has('done');
    const failing = leavesByError.has(source) && !found.has('error');
    return !failing && branches.length > 0 && branches.every((branch) => found.has(branch));
  }
}

function known(value: number): PlanBound {
  return { kind: 'known', value };
}

function unknown(reason: string): PlanBound {
  return { kind: 'unknown', reason };
}
