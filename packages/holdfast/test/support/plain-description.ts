/** What a graph type of a test says of itself: its nodes in one phase, no bound that it knows. */
import type { ExecutionLaneDescription, GraphDescriptionInput } from 'holdfast';

const unknown = { kind: 'unknown', reason: 'A test decides.' } as const;

/** `lanes`: the nodes with the lane of each; null for a node that is a function. */
export function plainDescription(
  lanes: Readonly<Record<string, ExecutionLaneDescription | null>>,
): GraphDescriptionInput {
  const nodeIds = Object.keys(lanes);
  const described = Object.values(lanes).filter((lane) => lane !== null);
  return {
    inputContract: {},
    outputContract: {},
    phases: [{ id: 'all', name: 'All', nodeIds }],
    nodes: nodeIds.map((id) => ({
      id,
      phaseId: 'all',
      inputContract: {},
      outputContract: {},
      laneId: lanes[id]?.id ?? null,
    })),
    policies: {
      retry: null,
      stop: null,
      concurrency: null,
      write: null,
      budget: null,
      action: null,
    },
    executionLanes: [...new Map(described.map((lane) => [lane.id, lane])).values()],
    requestedPermissions: [],
    bounds: {
      dispatches: { min: { kind: 'known', value: 0 }, max: unknown },
      maxConcurrency: unknown,
      maxFanOut: unknown,
    },
  };
}
