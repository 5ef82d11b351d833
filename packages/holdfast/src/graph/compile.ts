/**
 * Compiles a definition with a graph type. Seed 003, "Implement GraphType".
 *
 * Invariants: the definition is validated before the graph type sees it; graph code gets frozen
 * values and its results are frozen; the operations ignore `this` and extra arguments, so
 * `events.reduce(compiled.reduce, compiled.initialState())` works. Nothing is remembered between
 * calls: a graph type that answers differently the second time is seen to do so.
 */
import { textFault } from '../base/identifier.ts';
import { cloneFrozenJson, freezeJson, type JsonValue } from '../base/json.ts';
import type { GraphCommand } from './commands.ts';
import { completeDescription } from './complete-description.ts';
import { defaultCursor, guardedCursor } from './cursor.ts';
import { validateDecision } from './decision.ts';
import {
  type AnyGraphDefinition,
  type CompiledGraphDefinition,
  compileGraphDefinition,
} from './definition.ts';
import type { GraphDescription } from './description.ts';
import { frozenEvent } from './graph-event.ts';
import type {
  CompiledGraphType,
  GraphCursor,
  GraphType,
  GraphTypeCompilation,
  NodeResultIssue,
} from './graph-type.ts';
import { createGraphKernel, type GraphKernel } from './kernel.ts';
import type { GraphRequirements } from './requirements.ts';
import { isPositiveInteger, shown } from './shape-check.ts';
import { type GraphIssue, GraphValidationError, jsonIssue } from './validation-error.ts';

const CODE = 'INVALID_GRAPH_TYPE';
const OPERATIONS = ['initialState', 'reduce', 'decide', 'describe'] as const;
const OPTIONAL_OPERATIONS = ['validateNodeResult', 'compensate', 'open'] as const;

/**
 * Validates `definition`, lets `graphType` compile it and returns the checked operations.
 *
 * Throws `GraphValidationError`: the definition's issues (`compileGraphDefinition`), what the
 * graph type itself refuses, `INVALID_GRAPH_TYPE` for a graph type that breaks the contract,
 * the description's issues (`validateGraphDescription`) and `DESCRIPTION_MISMATCH`.
 * Later, `reduce` and `decide` throw it for values that are not JSON and for invalid commands.
 *
 * @example
 * const compiled = compileGraph(graphType, definition);
 * const state = events.reduce(compiled.reduce, compiled.initialState());
 * compiled.decide(state); // [{ kind: 'complete', output: { approved: true } }]
 */
export function compileGraph<
  Definition extends AnyGraphDefinition,
  State,
  Event,
  Requirements extends GraphRequirements,
>(
  graphType: GraphType<Definition, State, Event, Requirements>,
  definition: Definition,
): CompiledGraphType<Definition, State, Event, Requirements> {
  refuse(graphTypeIssues(graphType));
  const compiledDefinition = compileGraphDefinition(definition);
  const kernel = createGraphKernel(compiledDefinition.value);
  const compilation = graphType.compile(compiledDefinition.value, kernel);
  refuse(compilationIssues(compilation));
  const requirements = Object.freeze({ ...compilation.requirements });
  return bindOperations({ graphType, compiledDefinition, kernel, compilation, requirements });
}

interface Parts<Definition extends AnyGraphDefinition, State, Event, R extends GraphRequirements> {
  readonly graphType: GraphType<Definition, State, Event, R>;
  readonly compiledDefinition: CompiledGraphDefinition<Definition>;
  readonly kernel: GraphKernel<Definition>;
  readonly compilation: GraphTypeCompilation<State, Event, R>;
  readonly requirements: R;
}

function bindOperations<
  Definition extends AnyGraphDefinition,
  State,
  Event,
  R extends GraphRequirements,
>(parts: Parts<Definition, State, Event, R>): CompiledGraphType<Definition, State, Event, R> {
  const { compilation, kernel, compiledDefinition, requirements } = parts;
  const isNode = (nodeId: string): boolean => kernel.node(nodeId) !== undefined;
  const first = frozen<State>(compilation.initialState(), '/initialState');
  const described = completeDescription(compilation.describe(), parts);
  const operations = {
    initialState: (): State => first,
    reduce: (state: State, event: Event): State =>
      frozen<State>(
        compilation.reduce(given<State>(state, '/state'), frozenEvent(event) as Event),
        '/reducedState',
      ),
    decide: (state: State): readonly GraphCommand[] =>
      validateDecision(compilation.decide(given<State>(state, '/state')), isNode),
  };
  return Object.freeze({
    definition: compiledDefinition,
    requirements,
    ...operations,
    describe: (): GraphDescription => described,
    ...optionalOperations(compilation, isNode),
    open: (saved?: JsonValue): GraphCursor<State> => {
      if (typeof compilation.open !== 'function') return defaultCursor(operations, saved);
      const own =
        saved === undefined ? compilation.open() : compilation.open(given(saved, '/saved'));
      return guardedCursor(own, (decision) => validateDecision(decision, isNode));
    },
  });
}

type OptionalOperations<State> = Pick<
  CompiledGraphType<AnyGraphDefinition, State>,
  'validateNodeResult' | 'compensate'
>;

function optionalOperations<State, Event, R extends GraphRequirements>(
  compilation: GraphTypeCompilation<State, Event, R>,
  isNode: (nodeId: string) => boolean,
): OptionalOperations<State> {
  return {
    ...(typeof compilation.validateNodeResult === 'function' && {
      validateNodeResult: (nodeId: string, result: JsonValue): NodeResultIssue | null => {
        if (!isNode(nodeId)) refuse([issue('/nodeId', `there is no node ${shown(nodeId)}`)]);
        const frozenResult = given<JsonValue>(result, '/result');
        return checkedResultIssue(compilation.validateNodeResult?.(nodeId, frozenResult));
      },
    }),
    ...(typeof compilation.compensate === 'function' && {
      compensate: (state: State): readonly GraphCommand[] => {
        const decision = compilation.compensate?.(given<State>(state, '/state'));
        return validateCompensation(validateDecision(decision, isNode));
      },
    }),
  };
}

/** One undo at a time, at a position of its own kind, or nothing. */
function validateCompensation(commands: readonly GraphCommand[]): readonly GraphCommand[] {
  const [first, second] = commands;
  const valid =
    first === undefined || (first.kind === 'dispatch' && first.position.startsWith('undo/'));
  if (valid && second === undefined) return commands;
  const message = 'compensate gives nothing or one dispatch at a position undo/<position>';
  throw new GraphValidationError('Invalid graph command.', [
    { code: 'INVALID_GRAPH_COMMAND', path: '/compensate', message },
  ]);
}

function checkedResultIssue(value: unknown): NodeResultIssue | null {
  if (value === null) return null;
  const found = frozen<Partial<NodeResultIssue> | null>(value, '/compile/validateNodeResult');
  const { code, path, message } = found ?? {};
  const texts = typeof path === 'string' && textFault(code) === null && textFault(message) === null;
  if (!texts || Object.keys(found ?? {}).length !== 3) {
    refuse([issue('/compile/validateNodeResult', 'must give null or { code, path, message }')]);
  }
  return found as NodeResultIssue;
}

function graphTypeIssues(graphType: unknown): readonly GraphIssue[] {
  if (typeof graphType !== 'object' || graphType === null) {
    return [issue('', `expected a graph type, found ${shown(graphType)}`)];
  }
  const { kind, version, compile } = graphType as Readonly<Record<string, unknown>>;
  const fault = textFault(kind);
  return [
    ...(fault === null ? [] : [issue('/kind', fault)]),
    ...(isPositiveInteger(version) ? [] : [issue('/version', 'expected an integer from 1')]),
    ...(typeof compile === 'function' ? [] : [issue('/compile', 'expected a function')]),
  ];
}

function compilationIssues(compilation: unknown): readonly GraphIssue[] {
  if (typeof compilation !== 'object' || compilation === null) {
    return [issue('/compile', `compile must give the operations, found ${shown(compilation)}`)];
  }
  const parts = compilation as Readonly<Record<string, unknown>>;
  const requirements = parts['requirements'] as
    | Readonly<Record<string, unknown>>
    | null
    | undefined;
  const memory = requirements?.['memory'];
  const wrongMemory = memory !== 'required' && memory !== 'unused';
  const wrong = [
    ...OPERATIONS.filter((name) => typeof parts[name] !== 'function'),
    ...OPTIONAL_OPERATIONS.filter(
      (name) => !['undefined', 'function'].includes(typeof parts[name]),
    ),
  ];
  return [
    ...(wrongMemory
      ? [
          issue(
            '/compile/requirements/memory',
            `expected required or unused, found ${shown(memory)}`,
          ),
        ]
      : []),
    ...wrong.map((name) => issue(`/compile/${name}`, 'expected a function')),
  ];
}

/** A frozen copy of what a caller passes in. */
function given<T>(value: unknown, path: string): T {
  try {
    return cloneFrozenJson<T>(value);
  } catch (error) {
    throw new GraphValidationError('Invalid value for a graph.', [jsonIssue(error, path, CODE)]);
  }
}

/** What graph code gave away, frozen in place. */
function frozen<T>(value: unknown, path: string): T {
  try {
    return freezeJson<T>(value);
  } catch (error) {
    throw new GraphValidationError('Invalid graph type.', [jsonIssue(error, path, CODE)]);
  }
}

function issue(path: string, message: string): GraphIssue {
  return { code: CODE, path, message };
}

function refuse(issues: readonly GraphIssue[]): void {
  if (issues.length > 0) throw new GraphValidationError('Invalid graph type.', issues);
}
