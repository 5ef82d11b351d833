/**
 * The names that an expression may use, as data: a flow offers `input`, `nodes`, `loop` and `run`,
 * a state graph offers its own fields.
 */

export interface ExpressionScope {
  /** The variables that exist. */
  readonly variables: ReadonlySet<string>;
  /** Variables whose fields are all known: a field that is not listed is refused before a run. */
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  /**
   * The nodes that exist. When given, `nodes` is a variable that is only read with an id known
   * beforehand, `nodes["id"]` or `nodes.id`, so that what an expression reads is known too.
   */
  readonly nodeIds?: ReadonlySet<string>;
  /** What each entry of `nodes` has; `output` and `status` when left out. */
  readonly nodeFields?: readonly string[];
}

/** The variable that holds the nodes when a scope has `nodeIds`. */
export const NODES_VARIABLE = 'nodes';

export const DEFAULT_NODE_FIELDS: readonly string[] = ['output', 'status'];

/**
 * The scope of a flow: `input`, `nodes["id"].output` and `.status`, `loop.iteration`, `run.id`.
 * With `inLoop: false` there is no `loop.iteration`: the node stands in no loop. A set of ids is
 * used as it is, not copied.
 *
 * @example flowExpressionScope(['ask', 'decide'])
 */
export function flowExpressionScope(
  nodeIds: Iterable<string> | ReadonlySet<string>,
  options: { readonly inLoop?: boolean } = {},
): ExpressionScope {
  return {
    variables: FLOW_VARIABLES,
    fields: options.inLoop === false ? FIELDS_OUTSIDE_LOOPS : FIELDS_IN_LOOPS,
    nodeIds: nodeIds instanceof Set ? nodeIds : new Set(nodeIds),
  };
}

const FLOW_VARIABLES: ReadonlySet<string> = new Set(['input', 'loop', 'run']);
const FIELDS_IN_LOOPS = { loop: ['iteration'], run: ['id'] } as const;
const FIELDS_OUTSIDE_LOOPS = { loop: [], run: ['id'] } as const;

/** True when `name` is a variable of `scope`. */
export function scopeHas(scope: ExpressionScope, name: string): boolean {
  return scope.variables.has(name) || (name === NODES_VARIABLE && scope.nodeIds !== undefined);
}

/** The fields that `name` has, when all of them are known. */
export function knownFields(scope: ExpressionScope, name: string): readonly string[] | undefined {
  const { fields } = scope;
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
}
