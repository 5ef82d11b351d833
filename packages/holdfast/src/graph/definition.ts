/**
 * The graph definition: what a graph is, as JSON. Seed 003, "Define the graph".
 *
 * Invariants of a compiled definition: frozen, ids unique, every edge joins declared nodes.
 * Self-loops, parallel edges, cycles and graphs without nodes are legal here; a graph type adds
 * its own rules. Fields that are not named here are kept and are part of the digest.
 */
import { canonicalText, portableHash, type Sha256Digest } from '../base/digest.ts';
import {
  cloneFrozenJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonPointer,
} from '../base/json.ts';
import { ShapeCheck, shown } from './shape-check.ts';
import { type GraphIssue, GraphValidationError, jsonIssue } from './validation-error.ts';

/** A node of a definition. `id`: non-empty, trimmed, at most 256 UTF-8 bytes. */
export interface GraphNode<Data = JsonValue> {
  readonly id: string;
  readonly data: Data;
}

/** An edge of a definition; `source` and `target` are node ids. */
export interface GraphEdge<Data = JsonValue> {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly data: Data;
}

/**
 * A graph as JSON data.
 *
 * @example const definition: GraphDefinition = {
 *   id: 'draft-review', definitionVersion: 1, data: {},
 *   nodes: [{ id: 'draft', data: {} }, { id: 'review', data: {} }],
 *   edges: [{ id: 'draft-to-review', source: 'draft', target: 'review', data: {} }],
 * };
 */
export interface GraphDefinition<NodeData = JsonValue, EdgeData = JsonValue, Data = JsonValue> {
  readonly id: string;
  /** An integer from 1. */
  readonly definitionVersion: number;
  readonly data: Data;
  readonly nodes: readonly GraphNode<NodeData>[];
  readonly edges: readonly GraphEdge<EdgeData>[];
}

/** Any definition, whatever the types of its data are. At run time data is always JSON. */
export type AnyGraphDefinition = GraphDefinition<unknown, unknown, unknown>;

/** A validated, frozen definition with its canonical text and its digest. */
export interface CompiledGraphDefinition<Definition extends AnyGraphDefinition = GraphDefinition> {
  readonly value: Definition;
  readonly canonicalJson: string;
  readonly digest: Sha256Digest;
}

const REFUSAL = 'Graph definition is invalid.';

/**
 * Validates, copies and freezes a definition. The caller's value stays as it is.
 *
 * Throws `GraphValidationError` with all issues: `INVALID_JSON_VALUE`, `INVALID_DEFINITION`,
 * `INVALID_ID`, `INVALID_VERSION`, `DUPLICATE_NODE_ID`, `DUPLICATE_EDGE_ID`,
 * `UNKNOWN_SOURCE_NODE`, `UNKNOWN_TARGET_NODE`; paths are JSON pointers (`/edges/0/source`).
 *
 * @example compileGraphDefinition(definition).digest // 'sha256:…'
 */
export function compileGraphDefinition<Definition extends AnyGraphDefinition>(
  definition: Definition,
): CompiledGraphDefinition<Definition> {
  const value = frozenDefinition(definition);
  const check = new ShapeCheck();
  checkDefinition(value, check);
  check.done(REFUSAL);
  const canonicalJson = canonicalText(value);
  // The checks above are what makes this JSON value a definition.
  const compiled = value as unknown as Definition;
  const digest = `sha256:${portableHash(canonicalJson)}` as const;
  return Object.freeze({ value: compiled, canonicalJson, digest });
}

/**
 * Validates a literal definition and gives it back frozen, with its literal types.
 *
 * Throws `GraphValidationError` like `compileGraphDefinition`.
 *
 * @example
 * const definition = defineGraphDefinition({
 *   id: 'solo', definitionVersion: 1, data: {}, nodes: [{ id: 'a', data: {} }], edges: [],
 * });
 */
export function defineGraphDefinition<const Definition extends AnyGraphDefinition>(
  definition: Definition,
): Definition {
  return compileGraphDefinition(definition).value;
}

function frozenDefinition(definition: unknown): JsonValue {
  try {
    return cloneFrozenJson(definition);
  } catch (error) {
    throw new GraphValidationError(REFUSAL, jsonIssues(definition, jsonIssue(error, '')));
  }
}

/** One issue per part that is not JSON; `whole` if the parts by themselves are. */
function jsonIssues(definition: unknown, whole: GraphIssue): readonly GraphIssue[] {
  const issues: GraphIssue[] = [];
  for (const [part, path] of partsOf(definition)) {
    try {
      cloneFrozenJson(part);
    } catch (error) {
      issues.push(jsonIssue(error, path));
    }
  }
  return issues.length > 0 ? issues : [whole];
}

function partsOf(definition: unknown): readonly (readonly [unknown, string])[] {
  if (typeof definition !== 'object' || definition === null) return [];
  const fields = Object.entries(Object.getOwnPropertyDescriptors(definition));
  return fields.flatMap(([name, property]) => {
    const path = jsonPointer('', name);
    const value: unknown = property.value;
    if (name !== 'nodes' && name !== 'edges') return [[value, path]] as const;
    return Array.isArray(value)
      ? Array.from(value, (entry: unknown, index) => [entry, `${path}/${index}`] as const)
      : [[value, path] as const];
  });
}

function checkDefinition(value: JsonValue, check: ShapeCheck): void {
  if (!isJsonObject(value)) {
    check.note('INVALID_DEFINITION', '', `expected an object, found ${shown(value)}`);
    return;
  }
  checkId(value, 'id', '', check);
  if (!Object.hasOwn(value, 'definitionVersion')) {
    check.note('INVALID_VERSION', '/definitionVersion', 'the version is missing');
  }
  check.version(value['definitionVersion'], '/definitionVersion');
  checkData(value, '', check);
  const nodes = entriesOf(value, 'nodes', check);
  const ids = nodes.map(
    ([node, path]) => [checkId(node, 'id', path, check), `${path}/id`] as const,
  );
  for (const [node, path] of nodes) checkData(node, path, check);
  check.unique(ids, 'DUPLICATE_NODE_ID');
  checkEdges(entriesOf(value, 'edges', check), new Set(ids.map(([id]) => id)), check);
}

function checkEdges(
  edges: readonly (readonly [JsonObject, string])[],
  nodes: ReadonlySet<string | undefined>,
  check: ShapeCheck,
): void {
  check.unique(
    edges.map(([edge, path]) => [checkId(edge, 'id', path, check), `${path}/id`] as const),
    'DUPLICATE_EDGE_ID',
  );
  for (const [edge, path] of edges) {
    for (const end of ['source', 'target'] as const) {
      const id = checkId(edge, end, path, check);
      if (id === undefined || nodes.has(id)) continue;
      const code = end === 'source' ? 'UNKNOWN_SOURCE_NODE' : 'UNKNOWN_TARGET_NODE';
      check.note(code, `${path}/${end}`, `there is no node ${shown(id)}`);
    }
    checkData(edge, path, check);
  }
}

function entriesOf(
  value: JsonObject,
  name: 'nodes' | 'edges',
  check: ShapeCheck,
): readonly (readonly [JsonObject, string])[] {
  const list = value[name];
  if (!Array.isArray(list)) {
    check.note('INVALID_DEFINITION', `/${name}`, `expected an array, found ${shown(list)}`);
    return [];
  }
  return list.flatMap((entry: JsonValue, index) => {
    if (isJsonObject(entry)) return [[entry, `/${name}/${index}`] as const];
    const path = `/${name}/${index}`;
    check.note('INVALID_DEFINITION', path, `expected an object, found ${shown(entry)}`);
    return [];
  });
}

function checkId(
  value: JsonObject,
  name: string,
  path: string,
  check: ShapeCheck,
): string | undefined {
  if (Object.hasOwn(value, name)) return check.id(value[name], `${path}/${name}`);
  return check.note('INVALID_ID', `${path}/${name}`, `the field "${name}" is missing`);
}

function checkData(value: JsonObject, path: string, check: ShapeCheck): void {
  if (Object.hasOwn(value, 'data')) return;
  check.note('INVALID_DEFINITION', `${path}/data`, 'the field "data" is missing (it may be null)');
}
