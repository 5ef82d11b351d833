/**
 * Evaluates a syntax tree over JSON values: strictly, left to right, every step paid for.
 *
 * Invariants: values are only read, by own data keys; no operator gives a number that is not
 * finite; an error in a part that is evaluated is an error of the whole (`missing || true` fails),
 * while a part that `&&`, `||` or `?:` skips is not looked at.
 */
import type { JsonArray, JsonObject, JsonValue } from '../base/json.ts';
import { isJsonObject, setOwn } from '../base/json.ts';
import type { Budget } from './budget.ts';
import type { CallSite } from './call-site.ts';
import { equalJson } from './equality.ts';
import { type ExpressionErrorCode, quoted } from './expression-error.ts';
import { functionsNamed, matchFunction } from './functions.ts';
import { MAX_EVALUATION_STEPS, TEXT_UNITS_PER_STEP } from './limits.ts';
import type { SourceText } from './source-text.ts';
import type {
  BinarySyntax,
  CallSyntax,
  FieldSyntax,
  HasSyntax,
  IndexSyntax,
  LogicalSyntax,
  MacroSyntax,
  MapSyntax,
  NameSyntax,
  Syntax,
  UnarySyntax,
} from './syntax.ts';
import { typeName, typeOfValue } from './value-type.ts';

/** The values of the variables in scope. */
export type ExpressionValues = Readonly<Record<string, JsonValue>>;

/** The variable of a macro and the variables around it. */
interface Binding {
  readonly name: string;
  readonly value: JsonValue;
  readonly outer: Binding | null;
}

/** Evaluates `syntax`. Throws an `ExpressionError`. The result may share parts of `values`. */
export function evaluateSyntax(
  syntax: Syntax,
  run: { readonly source: SourceText; readonly values: ExpressionValues; readonly budget: Budget },
): JsonValue {
  return new Evaluation(run.source, run.values, run.budget).value(syntax, null);
}

class Evaluation implements CallSite {
  readonly #source: SourceText;
  readonly #values: ExpressionValues;
  readonly #budget: Budget;
  /** Where the part in hand stands, for errors of functions and operators. */
  #start = 0;

  constructor(source: SourceText, values: ExpressionValues, budget: Budget) {
    this.#source = source;
    this.#values = values;
    this.#budget = budget;
  }

  spend(steps: number): void {
    if (this.#budget.take(steps)) return;
    const reason = `The evaluation costs more than ${MAX_EVALUATION_STEPS} steps`;
    this.fail('EXPRESSION_LIMIT', reason);
  }

  spendText(units: number): void {
    this.spend(units / TEXT_UNITS_PER_STEP);
  }

  fail(code: ExpressionErrorCode, reason: string): never {
    return this.#source.fail(code, this.#start, reason);
  }

  value(node: Syntax, outer: Binding | null): JsonValue {
    this.#start = node.start;
    this.spend(1);
    switch (node.kind) {
      case 'literal':
        return node.value;
      case 'name':
        return this.#variable(node, outer);
      case 'field':
      case 'index':
        return this.#access(node, outer);
      case 'list':
        return node.items.map((item) => this.value(item, outer));
      case 'map':
        return this.#map(node, outer);
      case 'unary':
        return this.#unary(node, outer);
      case 'binary':
        return this.#binary(node, outer);
      case 'logical':
        return this.#logical(node, outer);
      case 'conditional':
        return this.#boolean(node.condition, outer)
          ? this.value(node.whenTrue, outer)
          : this.value(node.whenFalse, outer);
      case 'call':
        return this.#call(node, outer);
      case 'macro':
        return this.#macro(node, outer);
      case 'has':
        return this.#has(node, outer);
    }
  }

  #boolean(node: Syntax, outer: Binding | null): boolean {
    const value = this.value(node, outer);
    if (typeof value === 'boolean') return value;
    return this.#refuse(node, 'EXPRESSION_TYPE', `A boolean is needed here, not ${article(value)}`);
  }

  #refuse(node: Syntax, code: ExpressionErrorCode, reason: string): never {
    this.#start = node.start;
    return this.fail(code, reason);
  }

  #variable(node: NameSyntax, outer: Binding | null): JsonValue {
    for (let binding = outer; binding !== null; binding = binding.outer) {
      if (binding.name === node.name) return binding.value;
    }
    const value = ownValue(this.#values, node.name);
    if (value !== undefined) return value;
    return this.fail('EXPRESSION_MISSING_KEY', `The variable ${node.name} has no value here`);
  }

  #access(node: FieldSyntax | IndexSyntax, outer: Binding | null): JsonValue {
    const target = this.value(node.target, outer);
    const key = node.kind === 'field' ? node.key : this.value(node.index, outer);
    this.#start = node.kind === 'index' ? node.index.start : node.start;
    const value = this.#member(target, key);
    if (value !== undefined) return value;
    const reason = Array.isArray(target)
      ? `There is no item ${shown(key)} in a list of ${target.length}`
      : target === null
        ? `There is no key ${shown(key)} in null`
        : `There is no key ${shown(key)}`;
    return this.fail('EXPRESSION_MISSING_KEY', reason);
  }

  /** The member of a value, or undefined. null has no members. */
  #member(target: JsonValue, key: JsonValue): JsonValue | undefined {
    if (target === null) return undefined;
    if (isList(target)) {
      if (typeof key === 'number' && Number.isInteger(key)) return target[key];
      return this.fail('EXPRESSION_TYPE', `A list has no key ${shown(key)}; it needs an integer`);
    }
    if (typeOfValue(target) !== 'map' || !isJsonObject(target)) {
      return this.fail('EXPRESSION_TYPE', `A ${typeName(target)} has no keys`);
    }
    if (typeof key === 'string') return ownValue(target, key);
    return this.fail('EXPRESSION_TYPE', `A map has no key ${shown(key)}; it needs a string`);
  }

  #has(node: HasSyntax, outer: Binding | null): boolean {
    const { operand } = node;
    const target = this.value(operand.target, outer);
    const key = operand.kind === 'field' ? operand.key : this.value(operand.index, outer);
    this.#start = node.start;
    return this.#member(target, key) !== undefined;
  }

  #map(node: MapSyntax, outer: Binding | null): JsonObject {
    const map: Record<string, JsonValue> = {};
    for (const [keyNode, valueNode] of node.entries) {
      const key = this.value(keyNode, outer);
      if (typeof key !== 'string') {
        return this.#refuse(keyNode, 'EXPRESSION_TYPE', `A map key is a string, not ${shown(key)}`);
      }
      if (Object.hasOwn(map, key)) {
        this.#refuse(keyNode, 'EXPRESSION_TYPE', `The key ${shown(key)} stands twice`);
      }
      setOwn(map, key, this.value(valueNode, outer));
    }
    return map;
  }

  #unary(node: UnarySyntax, outer: Binding | null): JsonValue {
    if (node.operator === '!') return !this.#boolean(node.operand, outer);
    const value = this.value(node.operand, outer);
    if (typeof value === 'number') return -value;
    return this.#refuse(node, 'EXPRESSION_TYPE', `- needs a number, not ${article(value)}`);
  }

  #logical(node: LogicalSyntax, outer: Binding | null): boolean {
    const left = this.#boolean(node.left, outer);
    return left === (node.operator === '||') ? left : this.#boolean(node.right, outer);
  }

  #binary(node: BinarySyntax, outer: Binding | null): JsonValue {
    const left = this.value(node.left, outer);
    const right = this.value(node.right, outer);
    this.#start = node.start;
    const { operator } = node;
    switch (operator) {
      case '==':
        return equalJson(left, right, this);
      case '!=':
        return !equalJson(left, right, this);
      case 'in':
        return this.#membership(left, right);
      case '<':
      case '<=':
      case '>':
      case '>=':
        return this.#compare(operator, left, right);
      case '+':
        return this.#add(left, right);
      default:
        return this.#arithmetic(operator, left, right);
    }
  }

  #membership(item: JsonValue, within: JsonValue): boolean {
    if (isList(within)) {
      return within.some((other) => {
        this.spend(1);
        return equalJson(item, other, this);
      });
    }
    if (typeOfValue(within) === 'map') return this.#member(within, item) !== undefined;
    return this.#undefinedFor('in', item, within);
  }

  #compare(operator: '<' | '<=' | '>' | '>=', left: JsonValue, right: JsonValue): boolean {
    if (typeof left === 'number' && typeof right === 'number') {
      return ordered(operator, left, right);
    }
    if (typeof left === 'string' && typeof right === 'string') {
      this.spendText(Math.min(left.length, right.length));
      return ordered(operator, left, right);
    }
    return this.#undefinedFor(operator, left, right);
  }

  #add(left: JsonValue, right: JsonValue): JsonValue {
    if (typeof left === 'string' && typeof right === 'string') {
      this.spendText(left.length + right.length);
      return left + right;
    }
    if (isList(left) && isList(right)) {
      this.spend(left.length + right.length);
      return [...left, ...right];
    }
    return this.#arithmetic('+', left, right);
  }

  #arithmetic(operator: '+' | '-' | '*' | '/' | '%', left: JsonValue, right: JsonValue): number {
    if (typeof left !== 'number' || typeof right !== 'number') {
      return this.#undefinedFor(operator, left, right);
    }
    const result = calculate(operator, left, right);
    if (Number.isFinite(result)) return result;
    return this.fail('EXPRESSION_NOT_FINITE', `${left} ${operator} ${right} is ${result}`);
  }

  #undefinedFor(operator: string, left: JsonValue, right: JsonValue): never {
    const types = `${typeName(left)} ${operator} ${typeName(right)}`;
    return this.fail('EXPRESSION_TYPE', `${types} is not defined`);
  }

  #call(node: CallSyntax, outer: Binding | null): JsonValue {
    const args = node.args.map((argument) => this.value(argument, outer));
    this.#start = node.start;
    const found = matchFunction(
      functionsNamed(node.name, node.method),
      args.map((argument) => typeOfValue(argument) ?? 'null'),
      (wanted, type) => wanted === 'any' || wanted === type,
    );
    if (found !== undefined) return found.run(args, this);
    const types = args.map(typeName).join(', ');
    return this.fail('EXPRESSION_TYPE', `${node.name}() does not take (${types})`);
  }

  #macro(node: MacroSyntax, outer: Binding | null): JsonValue {
    const items = this.#walked(node, outer);
    const results: JsonValue[] = [];
    let matches = 0;
    for (const item of items) {
      const inside: Binding = { name: node.variable, value: item, outer };
      if (node.filter !== null && !this.#boolean(node.filter, inside)) continue;
      if (node.macro === 'map') {
        results.push(this.value(node.body, inside));
        continue;
      }
      const holds = this.#boolean(node.body, inside);
      if (node.macro === 'all' && !holds) return false;
      if (node.macro === 'exists' && holds) return true;
      if (!holds) continue;
      matches += 1;
      if (node.macro === 'filter') results.push(item);
    }
    switch (node.macro) {
      case 'all':
        return true;
      case 'exists':
        return false;
      case 'exists_one':
        return matches === 1;
      default:
        return results;
    }
  }

  /** What a macro walks: the items of a list, or the keys of a map in sorted order. */
  #walked(node: MacroSyntax, outer: Binding | null): JsonArray {
    const target = this.value(node.target, outer);
    this.#start = node.start;
    if (isList(target)) return target;
    if (typeOfValue(target) === 'map' && isJsonObject(target)) {
      const keys = Object.keys(target);
      this.spend(keys.length);
      return keys.sort();
    }
    return this.fail('EXPRESSION_TYPE', `${node.macro}() does not walk ${article(target)}`);
  }
}

function isList(value: JsonValue): value is JsonArray {
  return Array.isArray(value);
}

/** An own member; nothing is ever read from a prototype. */
function ownValue(map: Readonly<Record<string, JsonValue>>, key: string): JsonValue | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function shown(key: JsonValue): string {
  return typeof key === 'string' ? quoted(key) : typeof key === 'object' ? article(key) : `${key}`;
}

function article(value: JsonValue): string {
  const type = typeName(value);
  return type === 'null' || type.startsWith('a ') ? type : `a ${type}`;
}

function ordered<T extends number | string>(operator: string, left: T, right: T): boolean {
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    default:
      return left >= right;
  }
}

function calculate(operator: '+' | '-' | '*' | '/' | '%', left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
  }
}
