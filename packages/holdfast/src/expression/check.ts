/**
 * What can be found wrong with an expression before it runs: names that do not exist, and types
 * that cannot fit. Where the type of a value is only known in a run, nothing is assumed.
 *
 * Invariant: every problem is reported, not only the first; after one the part counts as `any`.
 */
import type { ExpressionError, ExpressionErrorCode } from './expression-error.ts';
import { quoted } from './expression-error.ts';
import { functionsNamed, matchFunction, whyNotOffered } from './functions.ts';
import { nodeIdOf } from './references.ts';
import {
  DEFAULT_NODE_FIELDS,
  type ExpressionScope,
  knownFields,
  NODES_VARIABLE,
  scopeHas,
} from './scope.ts';
import type { SourceText } from './source-text.ts';
import type {
  BinarySyntax,
  CallSyntax,
  FieldSyntax,
  IndexSyntax,
  MacroSyntax,
  MapSyntax,
  NameSyntax,
  Syntax,
} from './syntax.ts';
import { fitsType, type StaticType, typeOfValue } from './value-type.ts';

/** The variables of the macros around a part. */
type Bound = ReadonlySet<string>;

const NOTHING_BOUND: Bound = new Set();

export interface CheckResult {
  readonly type: StaticType;
  readonly problems: readonly ExpressionError[];
}

/** Checks `syntax` against the names of `scope`. */
export function checkSyntax(
  syntax: Syntax,
  source: SourceText,
  scope: ExpressionScope,
): CheckResult {
  const checker = new Checker(source, scope);
  const type = checker.check(syntax, NOTHING_BOUND);
  return { type, problems: checker.problems };
}

class Checker {
  readonly problems: ExpressionError[] = [];
  readonly #source: SourceText;
  readonly #scope: ExpressionScope;

  constructor(source: SourceText, scope: ExpressionScope) {
    this.#source = source;
    this.#scope = scope;
  }

  check(node: Syntax, bound: Bound): StaticType {
    switch (node.kind) {
      case 'literal':
        return typeOfValue(node.value) ?? 'any';
      case 'name':
        return this.#name(node, bound);
      case 'field':
      case 'index':
        return this.#access(node, bound);
      case 'list':
        for (const item of node.items) this.check(item, bound);
        return 'list';
      case 'map':
        return this.#map(node, bound);
      case 'unary':
        return this.#want(node.operand, node.operator === '!' ? 'boolean' : 'number', bound);
      case 'binary':
        return this.#binary(node, bound);
      case 'logical':
        this.#want(node.left, 'boolean', bound);
        return this.#want(node.right, 'boolean', bound);
      case 'conditional': {
        this.#want(node.condition, 'boolean', bound);
        const whenTrue = this.check(node.whenTrue, bound);
        const whenFalse = this.check(node.whenFalse, bound);
        return whenTrue === whenFalse ? whenTrue : 'any';
      }
      case 'call':
        return this.#call(node, bound);
      case 'macro':
        return this.#macro(node, bound);
      case 'has':
        this.check(node.operand, bound);
        return 'boolean';
    }
  }

  #problem(code: ExpressionErrorCode, node: Syntax, reason: string): StaticType {
    this.problems.push(this.#source.error(code, node.start, reason));
    return 'any';
  }

  /** Checks that `node` may be of type `wanted`, and takes it to be so. */
  #want(node: Syntax, wanted: StaticType, bound: Bound): StaticType {
    const found = this.check(node, bound);
    if (!fitsType(wanted, found)) {
      this.#problem('EXPRESSION_TYPE', node, `A ${wanted} is needed here, not a ${found}`);
    }
    return wanted;
  }

  #name(node: NameSyntax, bound: Bound): StaticType {
    if (bound.has(node.name)) return 'any';
    if (this.#isNodes(node, bound)) {
      const reason = 'nodes is only read with the id of a node, as nodes["id"].output';
      return this.#problem('EXPRESSION_UNKNOWN_NAME', node, reason);
    }
    if (scopeHas(this.#scope, node.name)) return 'any';
    return this.#problem(
      'EXPRESSION_UNKNOWN_NAME',
      node,
      `There is no variable ${quoted(node.name)} here; there is ${this.#variables()}`,
    );
  }

  #isNodes(node: Syntax, bound: Bound): boolean {
    return (
      node.kind === 'name' &&
      node.name === NODES_VARIABLE &&
      this.#scope.nodeIds !== undefined &&
      !bound.has(NODES_VARIABLE)
    );
  }

  #variables(): string {
    const names = [...this.#scope.variables];
    if (this.#scope.nodeIds !== undefined) names.push(NODES_VARIABLE);
    const shown = names.slice(0, 12).join(', ');
    return names.length === 0 ? 'none' : names.length > 12 ? `${shown}, …` : shown;
  }

  #access(node: FieldSyntax | IndexSyntax, bound: Bound): StaticType {
    if (this.#isNodes(node.target, bound)) return this.#node(node, bound);
    const target = this.check(node.target, bound);
    const key = literalKey(node);
    if (typeof key === 'string') this.#knownField(node, key, bound);
    const index = node.kind === 'index' ? this.check(node.index, bound) : 'string';
    const wanted = target === 'list' ? 'number' : 'string';
    if (target !== 'any' && target !== 'list' && target !== 'map') {
      return this.#problem('EXPRESSION_TYPE', node, `A ${target} has no keys`);
    }
    const fits =
      target === 'any'
        ? index === 'any' || index === 'number' || index === 'string'
        : fitsType(wanted, index);
    if (!fits) {
      return this.#problem(
        'EXPRESSION_TYPE',
        node,
        `A ${index} is no key of a ${target === 'any' ? 'value' : target}`,
      );
    }
    return 'any';
  }

  /** `nodes["id"]`, whose id must be known. */
  #node(node: FieldSyntax | IndexSyntax, bound: Bound): StaticType {
    const id = nodeIdOf(node);
    if (id === undefined) {
      if (node.kind === 'index') this.check(node.index, bound);
      const reason = 'The id of the node must be written out, as nodes["id"]';
      return this.#problem('EXPRESSION_UNKNOWN_NAME', node, reason);
    }
    if (this.#scope.nodeIds?.has(id) === true) return 'map';
    return this.#problem('EXPRESSION_UNKNOWN_NAME', node, `There is no node ${quoted(id)}`);
  }

  /** A field of `nodes["id"]`, or of a variable whose fields are all known. */
  #knownField(node: FieldSyntax | IndexSyntax, key: string, bound: Bound): void {
    const { target } = node;
    const ofNode =
      (target.kind === 'field' || target.kind === 'index') && this.#isNodes(target.target, bound);
    const ofVariable = target.kind === 'name' && !bound.has(target.name) ? target.name : undefined;
    const fields = ofNode
      ? (this.#scope.nodeFields ?? DEFAULT_NODE_FIELDS)
      : ofVariable === undefined
        ? undefined
        : knownFields(this.#scope, ofVariable);
    if (fields === undefined || fields.includes(key)) return;
    const owner = ofNode ? 'A node' : `The variable ${ofVariable}`;
    const known = fields.length === 0 ? 'none here' : fields.join(', ');
    const reason = `${owner} has no field ${quoted(key)}; it has ${known}`;
    this.#problem('EXPRESSION_UNKNOWN_NAME', node, reason);
  }

  #map(node: MapSyntax, bound: Bound): StaticType {
    for (const [key, value] of node.entries) {
      this.#want(key, 'string', bound);
      this.check(value, bound);
    }
    return 'map';
  }

  #binary(node: BinarySyntax, bound: Bound): StaticType {
    const left = this.check(node.left, bound);
    const right = this.check(node.right, bound);
    const result = binaryType(node.operator, left, right);
    if (result !== undefined) return result;
    const what = `${left} ${node.operator} ${right} is not defined`;
    return this.#problem('EXPRESSION_TYPE', node, what);
  }

  #call(node: CallSyntax, bound: Bound): StaticType {
    const types = node.args.map((argument) => this.check(argument, bound));
    const overloads = functionsNamed(node.name, node.method);
    const what = `${node.method ? 'method' : 'function'} ${node.name}()`;
    if (overloads.length === 0) {
      const why = whyNotOffered(node.name);
      const reason = `There is no ${what}${why === undefined ? '' : `: ${why}`}`;
      return this.#problem('EXPRESSION_UNKNOWN_NAME', node, reason);
    }
    const matching = overloads.filter(
      (overload) => matchFunction([overload], types, fitsType) !== undefined,
    );
    const [first, ...rest] = matching;
    if (first === undefined) {
      const reason = `The ${what} does not take (${types.join(', ')})`;
      return this.#problem('EXPRESSION_TYPE', node, reason);
    }
    return rest.every(({ result }) => result === first.result) ? first.result : 'any';
  }

  #macro(node: MacroSyntax, bound: Bound): StaticType {
    const target = this.check(node.target, bound);
    if (target !== 'any' && target !== 'list' && target !== 'map') {
      this.#problem('EXPRESSION_TYPE', node.target, `${node.macro}() does not walk a ${target}`);
    }
    const inside: Bound = new Set([...bound, node.variable]);
    if (node.filter !== null) this.#want(node.filter, 'boolean', inside);
    if (node.macro === 'map') {
      this.check(node.body, inside);
      return 'list';
    }
    this.#want(node.body, 'boolean', inside);
    return node.macro === 'filter' ? 'list' : 'boolean';
  }
}

function literalKey(node: FieldSyntax | IndexSyntax): unknown {
  if (node.kind === 'field') return node.key;
  return node.index.kind === 'literal' ? node.index.value : undefined;
}

/** The type that an operator gives, or undefined where it is not defined. */
function binaryType(
  operator: BinarySyntax['operator'],
  left: StaticType,
  right: StaticType,
): StaticType | undefined {
  switch (operator) {
    case '==':
    case '!=':
      return fitsType(left, right) || left === 'null' || right === 'null' ? 'boolean' : undefined;
    case 'in':
      if (right === 'map') return fitsType('string', left) ? 'boolean' : undefined;
      return right === 'list' || right === 'any' ? 'boolean' : undefined;
    case '+':
      return bothOf(['number', 'string', 'list'], left, right);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return bothOf(['number', 'string'], left, right) === undefined ? undefined : 'boolean';
    default:
      return bothOf(['number'], left, right);
  }
}

/** The one type of `types` that both sides can be; `any` when several are possible. */
function bothOf(
  types: readonly StaticType[],
  left: StaticType,
  right: StaticType,
): StaticType | undefined {
  const possible = types.filter((type) => fitsType(type, left) && fitsType(type, right));
  return possible.length > 1 ? 'any' : possible[0];
}
