/**
 * Flows written in code. `defineFlow` gives exactly the JSON that the command line and the editor
 * use, with the functions beside it; ids and outputs that do not exist are type errors.
 */
import type { StoredValue } from '../../attempt/binding.ts';
import type { NodeContext, NodeFunction } from '../../attempt/node-context.ts';
import { HoldfastError } from '../../base/errors.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { requireObject } from '../../base/option.ts';
import type { FlowEdge, FlowNode } from '../../flow/flow-graph.ts';
import type { NodeConfigs, NodeType } from '../../flow/node-config.ts';
import type { FlowFile } from '../../forms/flow-definition.ts';
import type { FlowFunctions } from './flow-functions.ts';

/** One node written in code: its type, its outputs and, as types only, what it gives. */
export interface CodeNode<Outputs extends string = string, Output = unknown> {
  readonly type: NodeType;
  /** Its configuration and the functions that this names, once its id is known. */
  readonly build: (id: string) => BuiltNode;
  readonly outputs?: Outputs;
  readonly output?: Output;
}

export interface BuiltNode {
  readonly config: JsonObject;
  readonly functions?: FlowFunctions;
}

/** `node` for its only output, or `node.output`. */
export type EdgeSource<Nodes extends CodeNodes> = {
  [Id in keyof Nodes & string]: OutputsOf<Nodes[Id]> extends infer Outputs extends string
    ? `${Id}.${Outputs}` | ('out' extends Outputs ? Id : never)
    : never;
}[keyof Nodes & string];

/** `node`, or `loop.next` for the way back into a loop. */
export type EdgeTarget<Nodes extends CodeNodes> = {
  [Id in keyof Nodes & string]: 'body' extends OutputsOf<Nodes[Id]> ? Id | `${Id}.next` : Id;
}[keyof Nodes & string];

/** Nodes written in code, by id. */
export type CodeNodes = Readonly<Record<string, CodeNode>>;

type OutputsOf<Node> = Node extends CodeNode<infer Outputs, infer _Output> ? Outputs : never;

/** The outputs of the nodes that ran; a node on a branch that was not taken is absent. */
export type FlowOutput<Nodes extends CodeNodes> = {
  readonly nodes: { readonly [Id in keyof Nodes]?: OutputOf<Nodes[Id]> };
};

type OutputOf<Node> = Node extends CodeNode<infer _Outputs, infer Output> ? Output : never;

/** A flow as it is written in code. */
export interface FlowSource<Nodes extends CodeNodes> {
  readonly id: string;
  /** A positive integer; 1 by default. */
  readonly version?: number;
  readonly nodes: Nodes;
  /** Without edges the nodes run one after the other, in the order in which they stand. */
  readonly edges?: readonly (readonly [EdgeSource<Nodes>, EdgeTarget<Nodes>])[];
}

/** A flow with its functions. */
export interface DefinedFlow<Nodes extends CodeNodes = CodeNodes> {
  readonly flow: FlowFile;
  readonly functions: FlowFunctions;
  /** The output's type; never a value. */
  readonly output?: FlowOutput<Nodes>;
}

/** The implicit first node: its output is the run's input. */
const TRIGGER_ID = 'trigger';

/**
 * A flow from code. Nodes that no edge leads to begin when the run does. Node ids hold no dot.
 *
 * Throws `FLOW_INVALID`.
 *
 * @example
 * const flow = defineFlow({
 *   id: 'greet',
 *   nodes: {
 *     hello: task(({ input }: TaskInput<{ name: string }>) => `Hello ${input.name}`),
 *     ok: approval({ prompt: 'Send?' }),
 *   },
 *   edges: [['hello', 'ok']],
 * });
 */
export function defineFlow<const Nodes extends CodeNodes>(
  source: FlowSource<Nodes>,
): DefinedFlow<Nodes> {
  requireObject('flow', source);
  requireObject('nodes', source.nodes);
  const ids = Object.keys(source.nodes);
  const bad = ids.find((id) => id.includes('.') || id === TRIGGER_ID);
  if (bad !== undefined || ids.length === 0) {
    throw new HoldfastError(
      'FLOW_INVALID',
      bad === undefined
        ? `Flow ${source.id} has no nodes.`
        : `Node id ${JSON.stringify(bad)} is refused: it is "${TRIGGER_ID}" or holds a dot.`,
      { flow: source.id },
    );
  }
  const functions: Record<string, NodeFunction<never>> = {};
  const nodes = Object.entries(source.nodes).map(([id, node]) => flowNode(id, node, functions));
  const edges = withStart(ids, source.edges?.map(edgeOf) ?? chain(ids));
  const trigger: FlowNode = { id: TRIGGER_ID, type: 'trigger', config: {} };
  const flow = { id: source.id, version: source.version ?? 1, nodes: [trigger, ...nodes], edges };
  return { flow, functions };
}

function flowNode(
  id: string,
  node: CodeNode,
  functions: Record<string, NodeFunction<never>>,
): FlowNode {
  const built = node.build(id);
  Object.assign(functions, built.functions);
  return { id, type: node.type, config: built.config };
}

function edgeOf([from, to]: readonly [string, string]): Omit<FlowEdge, 'id'> {
  const [source = '', sourceHandle] = from.split('.');
  const [target = '', targetHandle] = to.split('.');
  return {
    source,
    target,
    ...(sourceHandle === undefined ? {} : { sourceHandle }),
    ...(targetHandle === undefined ? {} : { targetHandle }),
  };
}

function chain(ids: readonly string[]): Omit<FlowEdge, 'id'>[] {
  return ids.slice(1).map((target, index) => ({ source: ids[index] ?? '', target }));
}

/** Edges with ids, and one from the trigger to every node without a forward input. */
function withStart(ids: readonly string[], edges: readonly Omit<FlowEdge, 'id'>[]): FlowEdge[] {
  const fed = new Set(edges.filter((edge) => edge.targetHandle !== 'next').map((e) => e.target));
  const starts = ids.filter((id) => !fed.has(id)).map((target) => ({ source: TRIGGER_ID, target }));
  return [...starts, ...edges].map((edge, index) => ({ id: `e${index + 1}`, ...edge }));
}

/** What a task without an `input` template is given. */
export interface TaskInput<Input = JsonValue> {
  /** The run's input. */
  readonly input: Input;
  /** The outputs of the nodes that lead to it; null for one that was skipped. */
  readonly nodes: Readonly<Record<string, JsonValue>>;
}

type TaskOptions = Omit<NodeConfigs['task'], 'function' | 'undo'> & {
  /** Takes the task back when its run is cancelled; given `{ output }`. */
  readonly undo?: NodeFunction<never>;
};

/** Options of a task whose output may be larger than an event holds. */
type LargeTaskOptions = TaskOptions & { readonly largeResult: 'artifact' };

/**
 * A task. Its failures may leave by `error`. With `largeResult` an output over the event limit is
 * stored as an artifact, and is `{ artifact: reference }` to all that comes after it.
 *
 * @example task(({ input }: TaskInput<{ n: number }>) => input.n + 1, { retry: { max: 3 } })
 */
export function task<Input, Output>(
  run: (input: Input, context: NodeContext) => Output,
  options: LargeTaskOptions,
): CodeNode<'out' | 'error', Awaited<Output> | StoredValue>;
export function task<Input, Output>(
  run: (input: Input, context: NodeContext) => Output,
  options?: Omit<TaskOptions, 'largeResult'>,
): CodeNode<'out' | 'error', Awaited<Output>>;
export function task(
  run: NodeFunction<never>,
  options: TaskOptions = {},
): CodeNode<'out' | 'error', unknown> {
  requireObject('options', options);
  const { undo, ...config } = options;
  return {
    type: 'task',
    build: (id) => ({
      config: jsonConfig({
        function: id,
        ...config,
        ...(undo === undefined ? {} : { undo: { function: `${id}.undo` } }),
      }),
      functions: { [id]: run, ...(undo === undefined ? {} : { [`${id}.undo`]: undo }) },
    }),
  };
}

/**
 * Leaves by `true` or `false`.
 *
 * @example condition('nodes.sum.output > 100')
 */
export function condition(expression: string): CodeNode<'true' | 'false', boolean> {
  return { type: 'control.condition', build: () => ({ config: { expression } }) };
}

/**
 * Leaves by the first of its cases that is true, else by `otherwise`.
 *
 * @example choose({ big: 'input.n > 10', small: 'input.n > 0' }, 'none')
 */
export function choose<const Case extends string, const Otherwise extends string = never>(
  cases: Readonly<Record<Case, string>>,
  otherwise?: Otherwise,
): CodeNode<Case | Otherwise, Case | Otherwise> {
  requireObject('cases', cases);
  const entries = Object.entries<string>(cases);
  const config = jsonConfig({
    cases: entries.map(([output, expression]) => ({ output, expression })),
    otherwise,
  });
  return { type: 'control.switch', build: () => ({ config }) };
}

/**
 * Goes round by `body`, back in by `next`, out by `done`.
 *
 * @example loop({ maxIterations: 3, while: 'nodes.check.output != true' })
 */
export function loop(
  config: NodeConfigs['control.loop'],
): CodeNode<'body' | 'done', { readonly iteration: number }> {
  return built('control.loop', config);
}

/**
 * Runs a function over the list that the expression `items` gives.
 *
 * @example map('input.urls', (url: string) => load(url), { maxConcurrency: 4 })
 */
export function map<Item, Output>(
  items: string,
  run: (item: Item, context: NodeContext) => Output,
  options: Omit<NodeConfigs['control.map'], 'items' | 'function'> = {},
): CodeNode<'out' | 'error', readonly Awaited<Output>[]> {
  return {
    type: 'control.map',
    build: (id) => ({
      config: jsonConfig({ items, function: id, ...options }),
      functions: { [id]: run },
    }),
  };
}

/**
 * Waits for a person.
 *
 * @example approval({ prompt: 'Ship {{ input.item }}?', deadlineMs: 86_400_000 })
 */
export function approval(
  config: NodeConfigs['approval'],
): CodeNode<'approved' | 'rejected', { readonly approved: boolean; readonly answer: JsonValue }> {
  return built('approval', config);
}

/**
 * Waits for time.
 *
 * @example delay(60_000)
 */
export function delay(delayMs: number): CodeNode<'out', null> {
  return built('delay', { delayMs });
}

/**
 * Waits for a signal; leaves by `timeout` when its deadline passes first.
 *
 * @example signal({ name: 'paid', deadlineMs: 3_600_000 })
 */
export function signal(config: NodeConfigs['signal']): CodeNode<'out' | 'timeout', JsonValue> {
  return built('signal', config);
}

/**
 * Runs another flow of the host as a run of its own.
 *
 * @example subflow({ flow: 'invoice', input: { order: '{{ input.order }}' } })
 */
export function subflow(config: NodeConfigs['subflow']): CodeNode<'out' | 'error', JsonValue> {
  return built('subflow', config);
}

/**
 * Ends its branch.
 *
 * @example end()
 */
export function end(): CodeNode<never, null> {
  return built('end', {});
}

/**
 * Ends the run, which goes on as a new one with this input.
 *
 * @example continueAsNew({ page: '{{ input.page + 1 }}' })
 */
export function continueAsNew(input: JsonValue): CodeNode<never, null> {
  return built('continue-as-new', { input });
}

function built<Node extends CodeNode>(type: NodeType, config: object): Node {
  requireObject('config', config);
  const json = jsonConfig(config);
  return { type, build: () => ({ config: json }) } as unknown as Node;
}

/** A configuration as the JSON file would hold it: options left undefined are left out. */
function jsonConfig(config: object): JsonObject {
  return JSON.parse(JSON.stringify(config)) as JsonObject;
}
