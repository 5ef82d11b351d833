/** Storing a run of a local graph: the plan is the graph's own, and everything is admitted. */

import { canonicalText } from '../base/digest.ts';
import type { JsonValue } from '../base/json.ts';
import { requireObject } from '../base/option.ts';
import type { Clock } from '../base/ports.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import { type ResolvedPlanSnapshot, resolveGraphPlan } from '../graph/plan.ts';
import type { RunStorage } from '../store/storage.ts';
import { requireGraph, requireStorage } from './option-check.ts';
import { requireFittingInput } from './result-limit.ts';
import { refuseRelativeId, storeRunDefinition } from './run-definition.ts';

/** The run to store: its id, its graph and its input (JSON). */
export interface StartRunOptions {
  readonly runId: string;
  readonly graph: AnyCompiledGraph;
  readonly input: JsonValue;
  readonly clock?: Clock;
}

/**
 * Stores a run of `graph` by its local plan. Throws what `persistRunDefinition` throws.
 *
 * @example await startRun(storage, { runId: 'r1', graph, input: { name: 'Ada' } })
 */
export async function startRun(storage: RunStorage, options: StartRunOptions): Promise<void> {
  requireStorage(storage);
  requireObject('options', options);
  refuseRelativeId(options.runId);
  const { graph, input } = options;
  const run = { plan: localPlan(graph), definition: graph.definition, input };
  requireFittingInput(storage.record.policy, run);
  await startRelative(storage, options);
}

/** `startRun` for any run: a child run or a successor has an id of its own kind. */
export async function startRelative(
  storage: RunStorage,
  options: StartRunOptions & { readonly resolvedPlan?: ResolvedPlanSnapshot },
): Promise<void> {
  const { runId, graph, input, clock, resolvedPlan = localPlan(graph) } = options;
  await storeRunDefinition(storage, {
    runId,
    graphDefinition: graph.definition,
    resolvedPlan,
    resolvedInputs: input,
    ...(clock === undefined ? {} : { clock }),
  });
}

/**
 * The plan of a graph that runs where it is defined: each lane gets the target it asks for, with
 * its known substitutions as fallbacks, and whatever permissions it asks for are its own.
 *
 * @example const { plan, digest } = localPlan(graph);
 */
export function localPlan(graph: AnyCompiledGraph): ResolvedPlanSnapshot {
  requireGraph(graph);
  const description = graph.describe();
  const identity = {
    source: `local:${description.graph.kind}`,
    version: String(description.graph.definitionVersion),
    digest: graph.definition.digest,
  };
  return resolveGraphPlan(description, {
    package: identity,
    admission: { package: identity, permissions: description.requestedPermissions },
    executionLanes: description.executionLanes.map(({ id, requested, knownSubstitutions }) => ({
      id,
      effective: requested,
      fallbacks: knownSubstitutions.filter(
        (target) => canonicalText({ ...target }) !== canonicalText({ ...requested }),
      ),
    })),
  });
}
