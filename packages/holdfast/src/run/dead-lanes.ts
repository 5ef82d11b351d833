/**
 * Which targets of a run are proven dead. Seed 002, "Failure": the scope follows what the failure
 * proves. A fact is never taken back within a run; later dispatches and processes share it.
 */
import type { EngineFailureKind } from '../base/engine-failure.ts';
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import type { ExecutionTarget } from '../graph/execution-target.ts';
import type { ResolvedExecutionLane } from '../graph/plan.ts';
import { targetsNamed, targetsOf } from './lane-book.ts';
import { GraphExecutionError } from './run-error.ts';

/** A failure that proves something about a lane. */
export interface DeadLaneFact {
  readonly selected: GraphEngineIdentity;
  readonly reported: GraphEngineIdentity | null;
  readonly failure: EngineFailureKind;
}

type Scope = 'adapter' | 'credentials' | 'model';

/** What each failure proves dead; a kind that is absent proves nothing. */
const SCOPES: Readonly<Partial<Record<EngineFailureKind, Scope>>> = {
  auth: 'credentials',
  billing: 'model',
  'model-unavailable': 'model',
  quota: 'model',
  'missing-cli': 'adapter',
  'invalid-config': 'adapter',
};

export class DeadLanes {
  readonly #keys: Set<string>;

  constructor(saved: readonly string[] = []) {
    this.#keys = new Set(saved);
  }

  /**
   * Takes in a fact about a target of `lane`. Throws `ENGINE_IDENTITY_UNRESOLVED` when the fact
   * leaves out what its scope needs and the lane has several targets that it may mean.
   */
  record(fact: DeadLaneFact, lane: ResolvedExecutionLane): void {
    const { selected, reported, failure } = fact;
    switch (SCOPES[failure]) {
      case 'adapter':
        this.#keys.add(adapterKey(selected.adapter));
        return;
      case 'credentials':
        this.#keys.add(credentialsKey(selected.adapter, providerOf(fact, lane)));
        return;
      case 'model': {
        this.#keys.add(selectedModelKey(fact, lane));
        const { provider = null, model = null } = reported ?? {};
        if (provider !== null && model !== null) this.#keys.add(modelKey(provider, model));
        return;
      }
      default:
        return;
    }
  }

  isDead({ adapter, provider, model }: ExecutionTarget): boolean {
    if (this.#keys.size === 0) return false;
    return (
      this.#keys.has(adapterKey(adapter)) ||
      this.#keys.has(credentialsKey(adapter, provider)) ||
      this.#keys.has(modelKey(provider, model))
    );
  }

  /** The targets of a lane that are still alive, in the host's order. */
  alive(lane: ResolvedExecutionLane): readonly ExecutionTarget[] {
    return targetsOf(lane).filter((target) => !this.isDead(target));
  }

  save(): readonly string[] {
    return [...this.#keys];
  }
}

function adapterKey(adapter: string): string {
  return JSON.stringify(['adapter', adapter]);
}

function credentialsKey(adapter: string, provider: string): string {
  return JSON.stringify(['credentials', adapter, provider]);
}

function modelKey(provider: string, model: string): string {
  return JSON.stringify(['model', provider, model]);
}

/** An old record may name no provider: then the only one that its lane has for the adapter. */
function providerOf(fact: DeadLaneFact, lane: ResolvedExecutionLane): string {
  const { selected } = fact;
  if (selected.provider !== null) return selected.provider;
  const providers = new Set(targetsNamed(lane, selected).map(({ provider }) => provider));
  return onlyOne([...providers], fact, lane);
}

function selectedModelKey(fact: DeadLaneFact, lane: ResolvedExecutionLane): string {
  const { provider, model } = fact.selected;
  if (provider !== null && model !== null) return modelKey(provider, model);
  const keys = targetsNamed(lane, fact.selected).map((target) =>
    modelKey(target.provider, target.model),
  );
  return onlyOne([...new Set(keys)], fact, lane);
}

function onlyOne(found: readonly string[], fact: DeadLaneFact, lane: ResolvedExecutionLane) {
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const { selected, failure } = fact;
  throw new GraphExecutionError(
    'ENGINE_IDENTITY_UNRESOLVED',
    `A recorded ${failure} failure of adapter ${selected.adapter} names provider ` +
      `${selected.provider ?? 'none'} and model ${selected.model ?? 'none'}; lane ${lane.id} has ` +
      `${found.length} targets that it may mean. Which of them is dead cannot be known.`,
    { laneId: lane.id, failure, selected: { ...selected }, candidates: found.length },
  );
}
