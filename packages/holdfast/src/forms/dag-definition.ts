/** What a dag is, and every way its definition can be wrong. */
import { isJsonObject, type JsonObject, type JsonValue, jsonPointer } from '../base/json.ts';
import type { GraphDefinition } from '../graph/definition.ts';
import { checkLane, type ExecutionLaneDescription, sameLane } from '../graph/execution-target.ts';
import { isPositiveInteger, ShapeCheck, shown } from '../graph/shape-check.ts';

/**
 * `required`: its failure fails the dag. `optional`: its failure is passed over. `finalizer`:
 * runs when all others are settled, also after a failure, and has no edges.
 */
export type DagNodeKind = 'required' | 'optional' | 'finalizer';

/** Nodes with one `key` share the limit of that key in `keyedConcurrency`. */
export type DagNodeData = {
  readonly kind: DagNodeKind;
  readonly key: string | null;
  readonly lane?: ExecutionLaneDescription;
};

/** The limits and rules of a dag. */
export type DagData = {
  /** The most open occurrences at once, from 1. */
  readonly globalConcurrency: number;
  /** The most open occurrences at once by key, each from 1. */
  readonly keyedConcurrency: Readonly<Record<string, number>>;
  /** After a required node has failed nothing new is dispatched but finalizers. */
  readonly stopOnError: boolean;
  /** How often a failed required node is tried again, from 0. Not used with `stopOnError`. */
  readonly retryCapPerNode: number;
};

/** A directed graph without cycles: each node runs once all its predecessors are settled. */
export type DagDefinition = GraphDefinition<DagNodeData, JsonValue, DagData>;

const KINDS: readonly string[] = ['required', 'optional', 'finalizer'];

/** Throws `GraphValidationError` with all that is wrong. */
export function checkDagDefinition(definition: DagDefinition): void {
  const check = new ShapeCheck();
  const limits = checkData(definition.data as unknown as JsonValue, check);
  checkNodes(definition, limits, check);
  checkFinalizers(definition, check);
  const cycle = findCycle(definition);
  if (cycle !== null) {
    check.note('DAG_CYCLE', '/edges', `the edges go round: ${cycle.map(shown).join(' → ')}`);
  }
  check.done('Invalid dag definition.');
}

/** The keyed limits, for the check of the nodes. */
function checkData(value: JsonValue, check: ShapeCheck): JsonObject {
  const required = ['globalConcurrency', 'keyedConcurrency', 'stopOnError', 'retryCapPerNode'];
  const data = check.object(value, '/data', { required, open: true });
  const limit = (number: JsonValue | undefined, path: string, from: 0 | 1): void => {
    if (number === undefined || (number === 0 && from === 0) || isPositiveInteger(number)) return;
    check.note('INVALID_LIMIT', path, `expected an integer from ${from}, found ${shown(number)}`);
  };
  limit(data?.['globalConcurrency'], '/data/globalConcurrency', 1);
  limit(data?.['retryCapPerNode'], '/data/retryCapPerNode', 0);
  const stop = data?.['stopOnError'];
  if (stop !== undefined && typeof stop !== 'boolean') {
    check.note(
      'INVALID_STOP_ON_ERROR',
      '/data/stopOnError',
      `expected true or false, found ${shown(stop)}`,
    );
  }
  const keyed = data?.['keyedConcurrency'];
  if (keyed === undefined) return {};
  if (!isJsonObject(keyed)) {
    check.note(
      'INVALID_LIMIT',
      '/data/keyedConcurrency',
      `expected limits by key, found ${shown(keyed)}`,
    );
    return {};
  }
  for (const [key, number] of Object.entries(keyed)) {
    limit(number, jsonPointer('/data/keyedConcurrency', key), 1);
  }
  return keyed;
}

function checkNodes(definition: DagDefinition, limits: JsonObject, check: ShapeCheck): void {
  const lanes = new Map<string, ExecutionLaneDescription>();
  definition.nodes.forEach((node, index) => {
    const path = `/nodes/${index}/data`;
    const data = check.object(node.data, path, { required: ['kind', 'key'], open: true });
    if (data === undefined) return;
    check.oneOf(data['kind'], `${path}/kind`, KINDS, 'INVALID_NODE_KIND');
    checkKey(data['key'], `${path}/key`, limits, check);
    if (data['lane'] !== undefined) checkSharedLane(data['lane'], `${path}/lane`, lanes, check);
  });
  definition.edges.forEach(({ data }, index) => {
    if (isJsonObject(data)) return;
    check.note('INVALID_SHAPE', `/edges/${index}/data`, `expected an object, found ${shown(data)}`);
  });
}

function checkKey(
  key: JsonValue | undefined,
  path: string,
  limits: JsonObject,
  check: ShapeCheck,
): void {
  if (key === undefined || key === null) return;
  if (check.text(key, path) === undefined) return;
  if (typeof key === 'string' && Object.hasOwn(limits, key)) return;
  const message = `there is no limit for the key ${shown(key)}; add it to /data/keyedConcurrency`;
  check.note('MISSING_KEY_LIMIT', path, message);
}

/** A lane that several nodes name must be the same in all of them. */
function checkSharedLane(
  value: JsonValue,
  path: string,
  lanes: Map<string, ExecutionLaneDescription>,
  check: ShapeCheck,
): void {
  const lane = checkLane(value, path, check);
  if (lane === undefined) return;
  const other = lanes.get(lane.id);
  if (other === undefined) lanes.set(lane.id, lane);
  else if (!sameLane(other, lane)) {
    const message = `the lane ${shown(lane.id)} is described differently by an earlier node`;
    check.note('CONFLICTING_LANE', path, message);
  }
}

function checkFinalizers(definition: DagDefinition, check: ShapeCheck): void {
  const finalizers = new Set<string>();
  for (const { id, data } of definition.nodes) {
    if (isJsonObject(data as unknown) && data.kind === 'finalizer') finalizers.add(id);
  }
  definition.edges.forEach(({ source, target }, index) => {
    for (const [end, id] of [
      ['source', source],
      ['target', target],
    ] as const) {
      if (!finalizers.has(id)) continue;
      const message = `the finalizer ${shown(id)} must not have edges`;
      check.note('FINALIZER_HAS_EDGES', `/edges/${index}/${end}`, message);
    }
  });
}

/** The nodes of one cycle, the first repeated at its end, or null. */
function findCycle({ nodes, edges }: DagDefinition): readonly string[] | null {
  const targets = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  const inbound = new Map<string, number>(nodes.map(({ id }) => [id, 0]));
  for (const { source, target } of edges) {
    targets.get(source)?.push(target);
    inbound.set(target, (inbound.get(target) ?? 0) + 1);
  }
  const free = nodes.map(({ id }) => id).filter((id) => inbound.get(id) === 0);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    for (const target of targets.get(id) ?? []) {
      const left = (inbound.get(target) ?? 0) - 1;
      inbound.set(target, left);
      if (left === 0) free.push(target);
    }
  }
  const stuck = new Set(nodes.map(({ id }) => id).filter((id) => (inbound.get(id) ?? 0) > 0));
  return stuck.size === 0 ? null : walkBack(stuck, edges);
}

/** Every stuck node has a stuck source, so walking back along them comes round. */
function walkBack(stuck: ReadonlySet<string>, edges: DagDefinition['edges']): readonly string[] {
  const sourceOf = new Map<string, string>();
  for (const { source, target } of edges) {
    if (stuck.has(source) && stuck.has(target)) sourceOf.set(target, source);
  }
  const seen: string[] = [];
  let at = [...stuck][0];
  while (at !== undefined && !seen.includes(at)) {
    seen.push(at);
    at = sourceOf.get(at);
  }
  return at === undefined ? seen : [...seen.slice(seen.indexOf(at)), at].reverse();
}
