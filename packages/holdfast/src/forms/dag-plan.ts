/** The fixed facts of one dag, by node index, in declaration order. */
import { type JsonObject, type JsonValue, sealJson, setOwn } from '../base/json.ts';
import type { FailCommand, GraphCommand } from '../graph/commands.ts';
import type { DagData, DagDefinition, DagNodeKind } from './dag-definition.ts';
import { type DagNodeState, dagPosition, hasResult } from './dag-state.ts';

export interface DagNodePlan {
  readonly id: string;
  readonly index: number;
  readonly kind: DagNodeKind;
  readonly key: string | null;
  readonly predecessors: readonly number[];
  readonly successors: readonly number[];
  readonly data: DagData;
}

export interface DagPlan {
  readonly data: DagData;
  readonly nodes: readonly DagNodePlan[];
  readonly indexOf: ReadonlyMap<string, number>;
  readonly hasFinalizers: boolean;
}

/** Looks up the state of a node by its index. */
export type NodeStateAt = (index: number) => DagNodeState;

export function planDag({ nodes, edges, data }: DagDefinition): DagPlan {
  const indexOf = new Map(nodes.map(({ id }, index) => [id, index]));
  const predecessors: number[][] = nodes.map(() => []);
  const successors: number[][] = nodes.map(() => []);
  const joined = new Set<number>();
  for (const edge of edges) {
    const source = indexOf.get(edge.source) ?? 0;
    const target = indexOf.get(edge.target) ?? 0;
    // Parallel edges join two nodes once.
    const pair = source * nodes.length + target;
    if (joined.has(pair)) continue;
    joined.add(pair);
    successors[source]?.push(target);
    predecessors[target]?.push(source);
  }
  return {
    data,
    nodes: nodes.map(({ id, data: { kind, key } }, index) => ({
      id,
      index,
      kind,
      key,
      predecessors: predecessors[index] ?? [],
      successors: successors[index] ?? [],
      data,
    })),
    indexOf,
    hasFinalizers: nodes.some((node) => node.data.kind === 'finalizer'),
  };
}

/** Starts the next occurrence of a node. */
export function dispatchOf(plan: DagPlan, node: DagNodePlan, stateAt: NodeStateAt): GraphCommand {
  const attempt = stateAt(node.index).attempts + 1;
  const input = inputOf(plan, node, attempt, stateAt);
  const position = dagPosition(node.id, attempt);
  const first = { kind: 'dispatch', nodeId: node.id, input, position } as const;
  return sealJson(attempt === 1 ? first : { ...first, retryOf: dagPosition(node.id, 1) });
}

function inputOf(
  plan: DagPlan,
  node: DagNodePlan,
  attempt: number,
  stateAt: NodeStateAt,
): JsonObject {
  const positionSummary = `node ${node.id}, attempt ${attempt}`;
  const results = resultsOf(plan, node.predecessors, stateAt);
  return sealJson(results === null ? { positionSummary } : { positionSummary, results });
}

/** The results of the nodes given that have one, by id; null when none has. */
function resultsOf(
  plan: DagPlan,
  indexes: Iterable<number>,
  stateAt: NodeStateAt,
): JsonObject | null {
  const results: Record<string, JsonValue> = {};
  let some = false;
  for (const index of indexes) {
    const { status, result } = stateAt(index);
    const id = plan.nodes[index]?.id;
    if (id === undefined || !hasResult(status)) continue;
    setOwn(results, id, result);
    some = true;
  }
  return some ? sealJson(results) : null;
}

/** The end of a dag in which nothing is open and nothing can start. */
export function endOf(plan: DagPlan, stateAt: NodeStateAt): GraphCommand {
  const failed = plan.nodes.filter(({ index }) => stateAt(index).status === 'failed');
  const required = failed.filter(({ kind }) => kind === 'required');
  if (required.length > 0) return failOf(required, stateAt);
  const finalizers = failed.filter(({ kind }) => kind === 'finalizer');
  if (finalizers.length > 0) return failOf(finalizers, stateAt);
  const results = resultsOf(plan, plan.nodes.keys(), stateAt);
  return sealJson({ kind: 'complete', output: sealJson({ nodes: results ?? NO_RESULTS }) });
}

const FAILED_SHOWN = 10;
const NO_RESULTS: JsonObject = sealJson({});

/** Fails the dag for these nodes. */
export function failOf(failed: readonly DagNodePlan[], stateAt: NodeStateAt): FailCommand {
  const names = failed
    .slice(0, FAILED_SHOWN)
    .map(({ id, index }) => `${id} (${stateAt(index).failureCode ?? ''})`);
  const rest = failed.length > FAILED_SHOWN ? ` and ${failed.length - FAILED_SHOWN} more` : '';
  const message = `Failed nodes: ${names.join(', ')}${rest}.`;
  return { kind: 'fail', code: 'DAG_NODE_FAILED', message };
}
