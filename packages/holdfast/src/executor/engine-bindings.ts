/** The engines of an executor: one for each target that the stored plan may use. */
import type { EngineSeat, GraphEngineBinding, LiveSeats } from '../attempt/engine-work.ts';
import { canonicalText } from '../base/digest.ts';
import { type EngineSelectionRecord, engineSelection } from '../base/engine-identity.ts';
import type { ExecutionTarget } from '../graph/execution-target.ts';
import type { ResolvedExecutionLane, ResolvedPlan } from '../graph/plan.ts';
import { isNamed, type LaneBook, targetsOf } from '../run/lane-book.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { RunFold } from '../run/run-fold.ts';

export class EngineSeats {
  static readonly none: EngineSeats = new EngineSeats([]);
  readonly #seats: ReadonlyMap<string, EngineSeat>;

  /** Throws `MISSING_ENGINE_BINDING` for a binding that is malformed or given twice. */
  constructor(bindings: readonly GraphEngineBinding[]) {
    if (!Array.isArray(bindings)) refuse('engines must be a list of bindings');
    const seats = new Map<string, EngineSeat>();
    bindings.forEach((binding, place) => {
      const seat = seatOf(binding, place);
      const key = keyOf(seat.target);
      if (seats.has(key)) refuse(`engines[${place}] binds target ${key} again`);
      seats.set(key, seat);
    });
    this.#seats = seats;
  }

  /** Throws `MISSING_ENGINE_BINDING` unless exactly the targets of the plan are bound. */
  requireExactly(lanes: LaneBook): void {
    const targets = lanes.lanes().flatMap(targetsOf);
    const planned = new Set(targets.map(keyOf));
    for (const seat of this.#seats.values()) requireOneTarget(seat, targets);
    for (const key of planned) {
      if (!this.#seats.has(key)) refuse(`target ${key} of the plan has no engine`);
    }
    for (const key of this.#seats.keys()) {
      if (!planned.has(key)) refuse(`target ${key} is not in the plan`);
    }
  }

  /** Bindings of those that a plan may use: a child run is given its parent's engines. */
  bindingsFor(plan: Pick<ResolvedPlan, 'executionLanes'>): readonly GraphEngineBinding[] {
    const planned = new Set(plan.executionLanes.flatMap((lane) => targetsOf(lane).map(keyOf)));
    return [...this.#seats.values()].filter(({ target }) => planned.has(keyOf(target)));
  }

  /** The engine behind a target. Throws `MISSING_ENGINE_BINDING`. */
  seat(target: ExecutionTarget): EngineSeat {
    return this.#seats.get(keyOf(target)) ?? refuse(`target ${keyOf(target)} has no engine`);
  }

  /** The seats of a lane that are neither dead nor blocked by the checks before the run. */
  live(lane: ResolvedExecutionLane, fold: RunFold): LiveSeats {
    const { id, effective, fallbacks } = lane;
    const { engines, preflight } = fold;
    const isAlive = (target: ExecutionTarget) =>
      !engines.dead.isDead(target) && !preflight.isExcluded(id, target);
    return {
      effective: isAlive(effective) ? this.seat(effective) : null,
      fallbacks: fallbacks.filter(isAlive).map((target) => this.seat(target)),
    };
  }
}

/** A fact about a dead lane names a selection: it must say which target that is. */
function requireOneTarget({ selection }: EngineSeat, targets: readonly ExecutionTarget[]): void {
  const meant = targets.filter((target) => isNamed(target, selection));
  const providers = new Set(meant.map(({ provider, modelFamily }) => `${provider} ${modelFamily}`));
  if (providers.size <= 1) return;
  refuse(`a selection of ${selection.adapter} may stand for ${providers.size} targets of the plan`);
}

const TARGET_TEXTS = ['adapter', 'provider', 'modelFamily', 'model'] as const;

/** Bindings come from the host, perhaps in plain JavaScript: nothing of them is taken on trust. */
function seatOf(binding: GraphEngineBinding, place: number): EngineSeat {
  const { target, engine, selection: given, hardTokenLimitEnforceable = false } = binding ?? {};
  if (typeof engine?.run !== 'function') refuse(`engines[${place}].engine has no run function`);
  const isTarget =
    TARGET_TEXTS.every((name) => typeof target?.[name] === 'string') && isTexts(target?.tools);
  if (!isTarget) refuse(`engines[${place}].target is no execution target`);
  if (typeof hardTokenLimitEnforceable !== 'boolean') {
    refuse(`engines[${place}].hardTokenLimitEnforceable must be true or false`);
  }
  const selection =
    given === undefined ? engineSelection({ ...target, capabilities: target.tools }) : given;
  if (!isSelectionOf(target, selection)) {
    refuse(`engines[${place}].selection is not one of target ${keyOf(target)}`);
  }
  // Copied: what the host does to its own objects later changes nothing.
  return Object.freeze({
    target,
    selection: engineSelection(selection),
    engine,
    hardTokenLimitEnforceable,
  });
}

function isSelectionOf(target: ExecutionTarget, selection: EngineSelectionRecord): boolean {
  return (
    isTexts(selection?.capabilities) &&
    isTextOrNull(selection.adapterVersion) &&
    isTextOrNull(selection.executable) &&
    isNamed(target, selection) &&
    selection.model === target.model &&
    canonicalText([...selection.capabilities]) === canonicalText([...target.tools])
  );
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function keyOf(target: ExecutionTarget): string {
  const { adapter, provider, modelFamily, model, tools } = target;
  return JSON.stringify([adapter, provider, modelFamily, model, [...tools]]);
}

function refuse(what: string): never {
  throw new GraphExecutionError(
    'MISSING_ENGINE_BINDING',
    `${what}. Bind one engine to each effective and fallback target of the plan, and no other.`,
  );
}
