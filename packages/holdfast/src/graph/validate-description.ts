/**
 * Validates descriptions. Seed 003, "Validate a description".
 *
 * Invariants of a validated description: ids are unique, every node stands in exactly one phase
 * and names it, every lane and edge end exists, and a known minimum is not above a known maximum.
 */
import { isSha256Digest } from '../base/digest.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { GraphDescription } from './description.ts';
import { checkLane } from './execution-target.ts';
import { isPositiveInteger, jsonOf, ShapeCheck, shown } from './shape-check.ts';

const DESCRIPTION_FIELDS = [
  'schemaVersion',
  'graph',
  'inputContract',
  'outputContract',
  'phases',
  'nodes',
  'edges',
  'policies',
  'executionLanes',
  'requestedPermissions',
  'bounds',
  'requirements',
];
const GRAPH_FIELDS = ['id', 'definitionVersion', 'kind', 'typeVersion', 'definitionDigest'];
const NODE_FIELDS = ['id', 'phaseId', 'inputContract', 'outputContract', 'laneId'];
const POLICY_FIELDS = ['retry', 'stop', 'concurrency', 'write', 'budget', 'action'];
const REFUSAL = 'Graph description is invalid.';

/**
 * Validates a description that came from outside `compileGraph`; returns it frozen.
 *
 * Throws `GraphValidationError` with all problems: `INVALID_JSON_VALUE` (also: nested more than
 * 256 levels), `INVALID_SHAPE`, `MISSING_FIELD`, `UNKNOWN_FIELD`, `INVALID_TEXT`, `INVALID_ID`,
 * `INVALID_VERSION`, `INVALID_DIGEST`, `INVALID_SCHEMA_VERSION`, `DUPLICATE_ID`, `UNKNOWN_NODE`,
 * `UNKNOWN_PHASE`, `UNKNOWN_LANE`, `INVALID_PHASE_ASSIGNMENT`, `DUPLICATE_SUBSTITUTION`,
 * `DUPLICATE_PERMISSION`, `INVALID_BOUND`, `INVALID_REQUIREMENT`. Fields beside the known ones are
 * allowed at the root only. Seed 003, "Validate a description".
 *
 * @example validateGraphDescription(JSON.parse(text)).bounds.maxFanOut
 */
export function validateGraphDescription(description: unknown): GraphDescription {
  return validatedDescription(jsonOf(REFUSAL, description));
}

/** Like `validateGraphDescription`, for a value that is frozen JSON already. */
export function validatedDescription(value: JsonValue): GraphDescription {
  const check = new ShapeCheck();
  checkDescription(value, check);
  check.done(REFUSAL);
  return value as unknown as GraphDescription;
}

/** Notes all that is wrong with a description. */
function checkDescription(value: JsonValue, check: ShapeCheck): void {
  const root = check.object(value, '', { required: DESCRIPTION_FIELDS, open: true });
  if (root === undefined) return;
  const version = root['schemaVersion'];
  if (version !== undefined && version !== 1) {
    check.note('INVALID_SCHEMA_VERSION', '/schemaVersion', `expected 1, found ${shown(version)}`);
  }
  checkGraphIdentity(root['graph'], check);
  const lanes = checkLanes(root['executionLanes'], check);
  checkNodesAndPhases(root, lanes, check);
  if (root['policies'] !== undefined) {
    check.object(root['policies'], '/policies', { required: POLICY_FIELDS });
  }
  checkPermissions(root['requestedPermissions'], '/requestedPermissions', check);
  checkBounds(root['bounds'], check);
  checkRequirements(root['requirements'], check);
}

/** Notes what is wrong with a list of permissions. */
export function checkPermissions(value: unknown, path: string, check: ShapeCheck): void {
  const names = check.list(value, path).map(([entry, at]) => {
    const permission = check.object(entry, at, { required: ['name', 'scope'] });
    return [check.text(permission?.['name'], `${at}/name`), `${at}/name`] as const;
  });
  check.unique(names, 'DUPLICATE_PERMISSION');
}

function checkGraphIdentity(value: JsonValue | undefined, check: ShapeCheck): void {
  if (value === undefined) return;
  const graph = check.object(value, '/graph', { required: GRAPH_FIELDS });
  if (graph === undefined) return;
  check.id(graph['id'], '/graph/id');
  check.version(graph['definitionVersion'], '/graph/definitionVersion');
  check.text(graph['kind'], '/graph/kind');
  check.version(graph['typeVersion'], '/graph/typeVersion');
  const digest = graph['definitionDigest'];
  if (digest === undefined || isSha256Digest(digest)) return;
  const message = `expected sha256: and 64 hex digits, found ${shown(digest)}`;
  check.note('INVALID_DIGEST', '/graph/definitionDigest', message);
}

/** The ids of the lanes, as far as they have one. */
function checkLanes(value: JsonValue | undefined, check: ShapeCheck): ReadonlySet<string> {
  const ids = check.list(value, '/executionLanes').map(([entry, at]) => {
    checkLane(entry, at, check);
    const id = isJsonObject(entry) ? entry['id'] : undefined;
    return [typeof id === 'string' ? id : undefined, `${at}/id`] as const;
  });
  check.unique(ids, 'DUPLICATE_ID');
  return new Set(ids.flatMap(([id]) => (id === undefined ? [] : [id])));
}

interface NodeInPhase {
  readonly id: string;
  readonly phaseId: string | undefined;
  readonly path: string;
}

function checkNodesAndPhases(
  root: JsonObject,
  lanes: ReadonlySet<string>,
  check: ShapeCheck,
): void {
  const nodes = check.list(root['nodes'], '/nodes').flatMap(([entry, at]) => {
    const node = check.object(entry, at, { required: NODE_FIELDS });
    if (node === undefined) return [];
    checkLaneOf(node['laneId'], `${at}/laneId`, lanes, check);
    const id = check.id(node['id'], `${at}/id`);
    const phaseId = check.id(node['phaseId'], `${at}/phaseId`);
    return id === undefined ? [] : [{ id, phaseId, path: at }];
  });
  check.unique(
    nodes.map(({ id, path }) => [id, `${path}/id`] as const),
    'DUPLICATE_ID',
  );
  checkPhases(root['phases'], nodes, check);
  checkEdges(root['edges'], new Set(nodes.map(({ id }) => id)), check);
}

function checkLaneOf(
  value: JsonValue | undefined,
  path: string,
  lanes: ReadonlySet<string>,
  check: ShapeCheck,
): void {
  if (value === undefined || value === null) return;
  const id = check.id(value, path);
  if (id === undefined || lanes.has(id)) return;
  check.note('UNKNOWN_LANE', path, `there is no execution lane ${shown(id)}`);
}

function checkPhases(
  value: JsonValue | undefined,
  nodes: readonly NodeInPhase[],
  check: ShapeCheck,
): void {
  const known = new Set(nodes.map(({ id }) => id));
  const phaseOf = new Map<string, string | undefined>();
  const ids = check.list(value, '/phases').map(([entry, at]) => {
    const phase = check.object(entry, at, { required: ['id', 'name', 'nodeIds'] });
    check.text(phase?.['name'], `${at}/name`);
    const phaseId = check.id(phase?.['id'], `${at}/id`);
    for (const [member, memberPath] of check.list(phase?.['nodeIds'], `${at}/nodeIds`)) {
      const id = check.id(member, memberPath);
      if (id === undefined) continue;
      if (!known.has(id)) check.note('UNKNOWN_NODE', memberPath, `there is no node ${shown(id)}`);
      else if (phaseOf.has(id)) {
        const message = `the node ${shown(id)} stands in more than one phase or twice in one`;
        check.note('INVALID_PHASE_ASSIGNMENT', memberPath, message);
      }
      phaseOf.set(id, phaseOf.get(id) ?? phaseId);
    }
    return [phaseId, `${at}/id`] as const;
  });
  check.unique(ids, 'DUPLICATE_ID');
  checkAssignments(nodes, phaseOf, new Set(ids.map(([id]) => id)), check);
}

function checkAssignments(
  nodes: readonly NodeInPhase[],
  phaseOf: ReadonlyMap<string, string | undefined>,
  phases: ReadonlySet<string | undefined>,
  check: ShapeCheck,
): void {
  for (const { id, phaseId, path } of nodes) {
    if (phaseId !== undefined && !phases.has(phaseId)) {
      check.note('UNKNOWN_PHASE', `${path}/phaseId`, `there is no phase ${shown(phaseId)}`);
    } else if (!phaseOf.has(id)) {
      const message = `the node ${shown(id)} stands in no phase`;
      check.note('INVALID_PHASE_ASSIGNMENT', `${path}/phaseId`, message);
    } else if (phaseId !== undefined && phaseOf.get(id) !== phaseId) {
      const lister = shown(phaseOf.get(id));
      const message = `the node names the phase ${shown(phaseId)}, but ${lister} lists it`;
      check.note('INVALID_PHASE_ASSIGNMENT', `${path}/phaseId`, message);
    }
  }
}

function checkEdges(
  value: JsonValue | undefined,
  nodes: ReadonlySet<string>,
  check: ShapeCheck,
): void {
  const ids = check.list(value, '/edges').map(([entry, at]) => {
    const edge = check.object(entry, at, { required: ['id', 'source', 'target'] });
    for (const end of ['source', 'target'] as const) {
      const id = check.id(edge?.[end], `${at}/${end}`);
      if (id === undefined || nodes.has(id)) continue;
      check.note('UNKNOWN_NODE', `${at}/${end}`, `there is no node ${shown(id)}`);
    }
    return [check.id(edge?.['id'], `${at}/id`), `${at}/id`] as const;
  });
  check.unique(ids, 'DUPLICATE_ID');
}

function checkBounds(value: JsonValue | undefined, check: ShapeCheck): void {
  if (value === undefined) return;
  const fields = ['dispatches', 'maxConcurrency', 'maxFanOut'];
  const bounds = check.object(value, '/bounds', { required: fields });
  checkBound(bounds?.['maxConcurrency'], '/bounds/maxConcurrency', check);
  checkBound(bounds?.['maxFanOut'], '/bounds/maxFanOut', check);
  if (bounds?.['dispatches'] === undefined) return;
  const range = { required: ['min', 'max'] };
  const dispatches = check.object(bounds['dispatches'], '/bounds/dispatches', range);
  const min = checkBound(dispatches?.['min'], '/bounds/dispatches/min', check);
  const max = checkBound(dispatches?.['max'], '/bounds/dispatches/max', check);
  if (min === undefined || max === undefined || min <= max) return;
  check.note(
    'INVALID_BOUND',
    '/bounds/dispatches',
    `the minimum ${min} is above the maximum ${max}`,
  );
}

/** The value of a known bound. */
function checkBound(
  value: JsonValue | undefined,
  path: string,
  check: ShapeCheck,
): number | undefined {
  if (value === undefined) return undefined;
  const known = isKnown(value);
  const bound = check.object(value, path, { required: ['kind', known ? 'value' : 'reason'] });
  if (bound === undefined) return undefined;
  if (!known) {
    check.oneOf(bound['kind'], `${path}/kind`, ['known', 'unknown'], 'INVALID_BOUND');
    check.text(bound['reason'], `${path}/reason`);
    return undefined;
  }
  const number = bound['value'];
  if (number === 0 || isPositiveInteger(number)) return number;
  if (number === undefined) return undefined;
  return check.note(
    'INVALID_BOUND',
    `${path}/value`,
    `expected an integer from 0, found ${shown(number)}`,
  );
}

function isKnown(value: JsonValue): boolean {
  return (
    typeof value === 'object' && value !== null && 'kind' in value && value['kind'] === 'known'
  );
}

function checkRequirements(value: JsonValue | undefined, check: ShapeCheck): void {
  if (value === undefined) return;
  const requirements = check.object(value, '/requirements', { required: ['memory'] });
  const memory = requirements?.['memory'];
  check.oneOf(memory, '/requirements/memory', ['required', 'unused'], 'INVALID_REQUIREMENT');
}
