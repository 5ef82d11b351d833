/**
 * The lanes of a run's plan: which node runs on which, and which targets each may use.
 *
 * Invariant: the order is the host's, fixed in the plan: the effective target, then its fallbacks.
 */
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import type { ExecutionTarget } from '../graph/execution-target.ts';
import type { ResolvedExecutionLane, ResolvedPlan } from '../graph/plan.ts';

/** What a plan says of engines: lanes, which node runs on which, and how they are checked. */
export type PlannedLanes = Pick<ResolvedPlan, 'executionLanes' | 'nodes' | 'preflight'>;

export class LaneBook {
  static readonly none: LaneBook = new LaneBook({ executionLanes: [], nodes: [] });
  /** The parts of the plan that speak of engines. */
  readonly plan: PlannedLanes;
  readonly #lanes: ReadonlyMap<string, ResolvedExecutionLane>;
  readonly #laneOfNode: ReadonlyMap<string, ResolvedExecutionLane>;

  constructor(plan: PlannedLanes) {
    this.plan = plan;
    this.#lanes = new Map(plan.executionLanes.map((lane) => [lane.id, lane]));
    this.#laneOfNode = new Map(
      plan.nodes.flatMap(({ id, laneId }) => {
        const lane = laneId === null ? undefined : this.#lanes.get(laneId);
        return lane === undefined ? [] : [[id, lane] as const];
      }),
    );
  }

  get isEmpty(): boolean {
    return this.#lanes.size === 0;
  }

  lanes(): readonly ResolvedExecutionLane[] {
    return [...this.#lanes.values()];
  }

  lane(laneId: string): ResolvedExecutionLane | null {
    return this.#lanes.get(laneId) ?? null;
  }

  /** The lane that a node runs on; null for a data-only node. */
  laneOf(nodeId: string): ResolvedExecutionLane | null {
    return this.#laneOfNode.get(nodeId) ?? null;
  }
}

/** The targets that a lane may use, in the host's order. */
export function targetsOf(lane: ResolvedExecutionLane): readonly ExecutionTarget[] {
  return [lane.effective, ...lane.fallbacks];
}

/** The targets of a lane that an identity may stand for: what the identity leaves open fits all. */
export function targetsNamed(
  lane: ResolvedExecutionLane,
  identity: GraphEngineIdentity,
): readonly ExecutionTarget[] {
  return targetsOf(lane).filter((target) => isNamed(target, identity));
}

/** True when an identity may stand for a target. */
export function isNamed(target: ExecutionTarget, identity: GraphEngineIdentity): boolean {
  const { adapter, provider, modelFamily, model } = identity;
  return (
    target.adapter === adapter &&
    (provider === null || provider === target.provider) &&
    (modelFamily === null || modelFamily === target.modelFamily) &&
    (model === null || model === target.model)
  );
}
