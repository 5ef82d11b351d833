/**
 * Resolves a description into a plan: what the host admits, frozen and digested.
 *
 * Invariants: the package is the admitted one; each lane stands for the requested target or a
 * known substitution; every requested permission is admitted with the same scope; the digest
 * changes with any of these. A plan grants nothing by itself, and holds no inputs.
 */
import { canonicalText, isSha256Digest, portableHash, type Sha256Digest } from '../base/digest.ts';
import {
  cloneFrozenJson,
  freezeParsedJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../base/json.ts';
import type {
  GraphBounds,
  GraphDescription,
  GraphEdgeDescription,
  GraphIdentity,
  GraphNodeDescription,
  GraphPermission,
  GraphPhaseDescription,
  GraphPolicies,
} from './description.ts';
import {
  checkTarget,
  type ExecutionLaneDescription,
  type ExecutionTarget,
} from './execution-target.ts';
import {
  checkCoverage,
  checkPreflightPolicy,
  type RunPreflightPolicy,
} from './preflight-policy.ts';
import type { GraphRequirements } from './requirements.ts';
import { jsonOf, ShapeCheck, shown } from './shape-check.ts';
import { checkPermissions, validateGraphDescription } from './validate-description.ts';

/** Exactly which code a graph came in. */
export interface GraphPackageIdentity {
  readonly source: string;
  readonly version: string;
  readonly digest: Sha256Digest;
}

/** What the host lets in. Permissions beyond the requested ones grant the graph nothing. */
export interface GraphAdmission {
  readonly package: GraphPackageIdentity;
  readonly permissions: readonly GraphPermission[];
}

/** Which target a lane really gets, and what may be tried in its place. */
export interface LaneResolution {
  readonly id: string;
  readonly effective: ExecutionTarget;
  readonly fallbacks?: readonly ExecutionTarget[];
}

/** A host's decisions about one described graph. */
export interface PlanResolution {
  readonly package: GraphPackageIdentity;
  readonly admission: GraphAdmission;
  readonly executionLanes: readonly LaneResolution[];
  readonly preflight?: RunPreflightPolicy;
}

/** A lane with the target it really gets, and those that may be tried in its place. */
export interface ResolvedExecutionLane extends ExecutionLaneDescription {
  readonly effective: ExecutionTarget;
  readonly fallbacks: readonly ExecutionTarget[];
}

/** What a host runs by. Lanes stand in the order of the description. */
export interface ResolvedPlan {
  readonly schemaVersion: 1;
  readonly graph: GraphIdentity;
  readonly package: GraphPackageIdentity;
  readonly inputContract: JsonValue;
  readonly outputContract: JsonValue;
  readonly phases: readonly GraphPhaseDescription[];
  readonly nodes: readonly GraphNodeDescription[];
  readonly edges: readonly GraphEdgeDescription[];
  readonly policies: GraphPolicies;
  readonly executionLanes: readonly ResolvedExecutionLane[];
  readonly preflight?: RunPreflightPolicy;
  readonly permissions: {
    readonly requested: readonly GraphPermission[];
    readonly admitted: readonly GraphPermission[];
  };
  readonly bounds: GraphBounds;
  readonly requirements: GraphRequirements;
}

/** A plan with its canonical text and the digest of that text. */
export interface ResolvedPlanSnapshot {
  readonly plan: ResolvedPlan;
  readonly canonicalJson: string;
  readonly digest: Sha256Digest;
}

const RESOLUTION_REFUSAL = 'Graph plan resolution is invalid.';
const RESOLUTION_FIELDS = {
  required: ['package', 'admission', 'executionLanes'],
  optional: ['preflight'],
};
const PACKAGE_FIELDS = { required: ['source', 'version', 'digest'] };
const LANE_FIELDS = { required: ['id', 'effective'], optional: ['fallbacks'] };

/**
 * Resolves a description with a host's decisions into a frozen, digested plan.
 *
 * Throws `GraphValidationError` with all refusals: the description's issues, malformed parts, and
 * `PACKAGE_NOT_ADMITTED`, `INVALID_LANE_RESOLUTION`, `DUPLICATE_ID`, `UNKNOWN_SUBSTITUTION`,
 * `DUPLICATE_SUBSTITUTION`, `DUPLICATE_PERMISSION`, `PERMISSION_NOT_ADMITTED`, `INVALID_BOUND`.
 *
 * @example
 * const plan = resolveGraphPlan(compiled.describe(), {
 *   package: identity, admission: { package: identity, permissions: [] }, executionLanes: [],
 * });
 * plan.digest; // 'sha256:…'
 */
export function resolveGraphPlan(
  description: GraphDescription,
  resolution: PlanResolution,
): ResolvedPlanSnapshot {
  const described = validateGraphDescription(description);
  const value = jsonOf(RESOLUTION_REFUSAL, resolution);
  const check = new ShapeCheck();
  checkResolution(value, described, check);
  check.done(RESOLUTION_REFUSAL);
  return snapshotOf(planOf(described, value as unknown as PlanResolution));
}

/** The snapshot of a plan that is known to be valid; its keys stand in canonical order. */
export function snapshotOf(plan: ResolvedPlan): ResolvedPlanSnapshot {
  const canonicalJson = canonicalText(cloneFrozenJson(plan));
  const digest = `sha256:${portableHash(canonicalJson)}` as const;
  const ordered = freezeParsedJson(JSON.parse(canonicalJson) as JsonValue);
  return Object.freeze({ plan: ordered as unknown as ResolvedPlan, canonicalJson, digest });
}

function planOf(description: GraphDescription, resolution: PlanResolution): ResolvedPlan {
  const resolved = new Map(resolution.executionLanes.map((lane) => [lane.id, lane]));
  const { preflight } = resolution;
  return {
    schemaVersion: 1,
    graph: description.graph,
    package: resolution.package,
    inputContract: description.inputContract,
    outputContract: description.outputContract,
    phases: description.phases,
    nodes: description.nodes,
    edges: description.edges,
    policies: description.policies,
    executionLanes: description.executionLanes.map((lane) => ({
      ...lane,
      effective: resolved.get(lane.id)?.effective ?? lane.requested,
      fallbacks: resolved.get(lane.id)?.fallbacks ?? [],
    })),
    ...(preflight !== undefined && { preflight }),
    permissions: {
      requested: description.requestedPermissions,
      admitted: resolution.admission.permissions,
    },
    bounds: description.bounds,
    requirements: description.requirements,
  };
}

function checkResolution(value: JsonValue, description: GraphDescription, check: ShapeCheck): void {
  const root = check.object(value, '', RESOLUTION_FIELDS);
  if (root === undefined) return;
  const admission = check.object(root['admission'] ?? null, '/admission', {
    required: ['package', 'permissions'],
  });
  checkPackage(root['package'], '/package', check);
  checkPackage(admission?.['package'], '/admission/package', check);
  checkAdmittedPackage(root['package'], admission?.['package'], check);
  const laneIds = new Set(description.executionLanes.map(({ id }) => id));
  checkLanes(root['executionLanes'], description, check);
  if (root['preflight'] !== undefined) checkPreflightPolicy(root['preflight'], laneIds, check);
  checkPermissions(admission?.['permissions'], '/admission/permissions', check);
  checkAdmitted(description.requestedPermissions, admission?.['permissions'], check);
}

function checkPackage(value: JsonValue | undefined, path: string, check: ShapeCheck): void {
  if (value === undefined) return;
  const identity = check.object(value, path, PACKAGE_FIELDS);
  check.text(identity?.['source'], `${path}/source`);
  check.text(identity?.['version'], `${path}/version`);
  const digest = identity?.['digest'];
  if (digest === undefined || isSha256Digest(digest)) return;
  const message = `expected sha256: and 64 lower-case hex digits, found ${shown(digest)}`;
  check.note('INVALID_DIGEST', `${path}/digest`, message);
}

function checkAdmittedPackage(
  used: JsonValue | undefined,
  admitted: JsonValue | undefined,
  check: ShapeCheck,
): void {
  if (used === undefined || admitted === undefined) return;
  if (canonicalText(used) === canonicalText(admitted)) return;
  const message = `the host admitted ${shown(admitted)}, not ${shown(used)}`;
  check.note('PACKAGE_NOT_ADMITTED', '/package', message);
}

function checkLanes(
  value: JsonValue | undefined,
  description: GraphDescription,
  check: ShapeCheck,
): void {
  const known = new Map(description.executionLanes.map((lane) => [lane.id, lane]));
  const named = check.list(value, '/executionLanes').map(([entry, at]) => {
    const lane = check.object(entry, at, LANE_FIELDS);
    const id = check.id(lane?.['id'], `${at}/id`);
    if (lane !== undefined) checkTargets(lane, at, id === undefined ? id : known.get(id), check);
    return [id, `${at}/id`] as const;
  });
  const at = { list: '/executionLanes', duplicate: 'DUPLICATE_ID' };
  checkCoverage(named, new Set(known.keys()), at, check);
}

/** Effective target and fallbacks: each known to the lane, and no two the same. */
function checkTargets(
  lane: JsonObject,
  path: string,
  described: ExecutionLaneDescription | undefined,
  check: ShapeCheck,
): void {
  const effective = lane['effective'];
  const fallbacks = check.list(lane['fallbacks'], `${path}/fallbacks`);
  const targets = [
    ...(effective === undefined ? [] : [[effective, `${path}/effective`] as const]),
    ...fallbacks,
  ];
  const allowed = new Set(described === undefined ? [] : allowedTargets(described));
  for (const [target, at] of targets) {
    const before = check.issues.length;
    checkTarget(target, at, check);
    const wellFormed = check.issues.length === before;
    if (described === undefined || !wellFormed || allowed.has(canonicalText(target))) continue;
    const message = `${shown(target)} is neither the requested target nor a known substitution`;
    check.note('UNKNOWN_SUBSTITUTION', at, message);
  }
  const texts = targets.map(([target, at]) => [canonicalText(target), at] as const);
  check.unique(texts, 'DUPLICATE_SUBSTITUTION');
}

function allowedTargets(lane: ExecutionLaneDescription): readonly string[] {
  const targets = [lane.requested, ...lane.knownSubstitutions];
  return targets.map((target) => canonicalText(target as unknown as JsonValue));
}

function checkAdmitted(
  requested: readonly GraphPermission[],
  admitted: JsonValue | undefined,
  check: ShapeCheck,
): void {
  if (!Array.isArray(admitted)) return;
  const granted = new Set(
    admitted.filter(isJsonObject).map(({ name, scope }) => permissionKey(name, scope)),
  );
  for (const { name, scope } of requested) {
    if (granted.has(permissionKey(name, scope))) continue;
    const message = `${shown(name)} with the scope ${shown(scope)} is not admitted`;
    check.note('PERMISSION_NOT_ADMITTED', '/admission/permissions', message);
  }
}

function permissionKey(name: unknown, scope: JsonValue | undefined): string {
  return canonicalText([String(name), scope ?? null]);
}
