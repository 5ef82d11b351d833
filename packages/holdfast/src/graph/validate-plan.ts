/** Validates a plan that was stored: rebuilt from its own parts it must come out the same. */
import { canonicalText } from '../base/digest.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { isJsonObject } from '../base/json.ts';
import type { GraphDescription } from './description.ts';
import {
  type PlanResolution,
  type ResolvedPlan,
  type ResolvedPlanSnapshot,
  resolveGraphPlan,
  snapshotOf,
} from './plan.ts';
import { jsonOf, ShapeCheck } from './shape-check.ts';
import { GraphValidationError } from './validation-error.ts';

const REFUSAL = 'Resolved graph plan is invalid.';
const PLAN_FIELDS = {
  required: [
    'schemaVersion',
    'graph',
    'package',
    'inputContract',
    'outputContract',
    'phases',
    'nodes',
    'edges',
    'policies',
    'executionLanes',
    'permissions',
    'bounds',
    'requirements',
  ],
  optional: ['preflight'],
};
const LANE_FIELDS = {
  required: ['id', 'requested', 'knownSubstitutions', 'effective', 'fallbacks'],
};

/**
 * Validates a plan that came from outside, with exact fields at every level.
 *
 * Throws `GraphValidationError`: malformed parts, the refusals of `resolveGraphPlan`, or
 * `RESOLVED_PLAN_MISMATCH` when it is not what its own parts resolve to.
 *
 * @example validateResolvedPlan(JSON.parse(stored)).digest === recordedDigest
 */
export function validateResolvedPlan(plan: unknown): ResolvedPlanSnapshot {
  const value = jsonOf(REFUSAL, plan);
  const check = new ShapeCheck();
  const root = check.object(value, '', PLAN_FIELDS);
  const lanes = check.list(root?.['executionLanes'], '/executionLanes').map(([entry, at]) => {
    return check.object(entry, at, LANE_FIELDS);
  });
  const required = { required: ['requested', 'admitted'] };
  const permissions = check.object(root?.['permissions'] ?? null, '/permissions', required);
  check.done(REFUSAL);
  const complete = lanes.filter(isJsonObject);
  const rebuilt = resolveGraphPlan(
    describedBy(root ?? {}, complete, permissions ?? {}),
    resolutionOf(root ?? {}, complete, permissions ?? {}),
  );
  if (rebuilt.canonicalJson !== canonicalText(value)) {
    const message = 'the plan is not what its own parts resolve to';
    const issue = { code: 'RESOLVED_PLAN_MISMATCH', path: '', message };
    throw new GraphValidationError(REFUSAL, [issue]);
  }
  return snapshotOf(value as unknown as ResolvedPlan);
}

/** The description inside a plan; `resolveGraphPlan` validates it. */
function describedBy(
  root: JsonObject,
  lanes: readonly JsonObject[],
  permissions: JsonObject,
): GraphDescription {
  const { package: _package, preflight: _preflight, permissions: _permissions, ...rest } = root;
  const executionLanes = lanes.map((lane) => {
    return without(lane, ['effective', 'fallbacks']);
  });
  const requestedPermissions = permissions['requested'] ?? null;
  const description: JsonObject = { ...rest, executionLanes, requestedPermissions };
  return description as unknown as GraphDescription;
}

function resolutionOf(
  root: JsonObject,
  lanes: readonly JsonObject[],
  permissions: JsonObject,
): PlanResolution {
  const admitted: JsonValue = permissions['admitted'] ?? null;
  const identity: JsonValue = root['package'] ?? null;
  const preflight = root['preflight'];
  const resolution: JsonObject = {
    package: identity,
    admission: { package: identity, permissions: admitted },
    executionLanes: lanes.map((lane) => without(lane, ['requested', 'knownSubstitutions'])),
    ...(preflight !== undefined && { preflight }),
  };
  return resolution as unknown as PlanResolution;
}

function without(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}
