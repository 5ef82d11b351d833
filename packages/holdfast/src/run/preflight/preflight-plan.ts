/** What a plan asks to be checked: its lanes, their targets, and the nodes each is checked for. */
import type { EngineSelectionRecord } from '../../base/engine-identity.ts';
import type { ExecutionTarget } from '../../graph/execution-target.ts';
import { isNamed, type PlannedLanes, targetsOf } from '../lane-book.ts';

/** One lane, as the preflight sees it. */
export interface PreflightLane {
  readonly id: string;
  /** Whether one of its targets must answer a call. */
  readonly isLive: boolean;
  /** Whether a target counts that cannot be checked without a call. */
  readonly allowsUnsupported: boolean;
  /** In the host's order. */
  readonly targets: readonly ExecutionTarget[];
  /** The nodes that run on it; one null when there are none. */
  readonly contexts: readonly (string | null)[];
}

/** The checks of a plan. `timeoutMs` bounds each of them. */
export interface PreflightPlan {
  readonly timeoutMs: number;
  readonly lanes: readonly PreflightLane[];
}

/** The checks that a plan asks for; null when it asks for none. */
export function preflightPlan(plan: PlannedLanes): PreflightPlan | null {
  const { preflight } = plan;
  if (preflight === undefined) return null;
  const policies = new Map(preflight.lanes.map((policy) => [policy.laneId, policy]));
  const nodesOf = new Map<string, string[]>(plan.executionLanes.map(({ id }) => [id, []]));
  for (const { id, laneId } of plan.nodes) nodesOf.get(laneId ?? '')?.push(id);
  const lanes = plan.executionLanes.map((lane): PreflightLane => {
    const policy = policies.get(lane.id);
    const nodes = nodesOf.get(lane.id) ?? [];
    return {
      id: lane.id,
      isLive: policy?.live === 'required',
      allowsUnsupported: policy?.unsupportedStatic === 'allow',
      targets: targetsOf(lane),
      contexts: nodes.length === 0 ? [null] : nodes,
    };
  });
  return { timeoutMs: preflight.timeoutMs, lanes };
}

/** True when an engine of this identity may stand for a target, with exactly these tools. */
export function isSeatedAt(
  selection: EngineSelectionRecord,
  target: ExecutionTarget,
  tools: readonly string[] = target.tools,
): boolean {
  const { capabilities } = selection;
  return (
    isNamed(target, selection) &&
    capabilities.length === tools.length &&
    capabilities.every((name, place) => name === tools[place])
  );
}
