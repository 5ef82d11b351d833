/**
 * Reads the source of an expression into our own syntax tree. The only file that knows the parser.
 *
 * Invariants: the tree is within the bounds of `limits.ts`; number literals are doubles, and an
 * integer that no double holds exactly is refused; positions are those of the given source.
 */
import { type ASTNode, parse as parseCel } from '@marcbachmann/cel-js';
import { hasLoneSurrogate } from '../base/text.ts';
import type { ExpressionErrorCode } from './expression-error.ts';
import {
  MAX_EXPRESSION_DEPTH,
  MAX_EXPRESSION_LENGTH,
  MAX_EXPRESSION_NODES,
  MAX_MACRO_NESTING,
} from './limits.ts';
import { type AdmittedSource, admitReservedWords } from './reserved-words.ts';
import type { SourceText } from './source-text.ts';
import type { LiteralSyntax, MacroName, MacroSyntax, Syntax } from './syntax.ts';

/** Parses `source`. Throws `EXPRESSION_SYNTAX`, `EXPRESSION_TYPE` or `EXPRESSION_LIMIT`. */
export function parseExpression(source: SourceText): Syntax {
  const { text } = source;
  if (text.length > MAX_EXPRESSION_LENGTH) {
    source.fail('EXPRESSION_LIMIT', 0, `Longer than ${MAX_EXPRESSION_LENGTH} characters`);
  }
  if (text.trim() === '') source.fail('EXPRESSION_SYNTAX', 0, 'The expression is empty');
  if (hasLoneSurrogate(text)) {
    source.fail('EXPRESSION_SYNTAX', 0, 'The source holds half of a surrogate pair');
  }
  const admitted = admitReservedWords(text);
  let ast: ASTNode;
  try {
    ast = parseCel(admitted.text).ast;
  } catch (error) {
    return refuseParse(source, error);
  }
  return new Conversion(source, admitted).convert(ast, 0);
}

interface ParserFault {
  readonly code: string;
  readonly summary: string;
  readonly range?: { readonly start: number };
}

function refuseParse(source: SourceText, error: unknown): never {
  const fault = isParserFault(error) ? error : { code: 'unknown', summary: 'It cannot be read' };
  const start = Math.min(fault.range?.start ?? 0, source.text.length);
  const code: ExpressionErrorCode =
    fault.code === 'limit_exceeded' ? 'EXPRESSION_LIMIT' : 'EXPRESSION_SYNTAX';
  const reason =
    start >= source.text.length ? 'The expression ends too early' : `Syntax: ${fault.summary}`;
  return source.fail(code, start, reason);
}

function isParserFault(error: unknown): error is ParserFault {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'summary' in error &&
    typeof error.summary === 'string'
  );
}

const MACROS: ReadonlySet<string> = new Set<MacroName>([
  'all',
  'exists',
  'exists_one',
  'filter',
  'map',
]);

/** `math.floor(x)` is a function of this namespace, never a method of a variable `math`. */
const MATH_NAMESPACE = 'math';

/** Turns the parser's tree into ours, counting nodes, depth and macro nesting. */
class Conversion {
  readonly #source: SourceText;
  readonly #admitted: AdmittedSource;
  #nodes = 0;
  #macros = 0;

  constructor(source: SourceText, admitted: AdmittedSource) {
    this.#source = source;
    this.#admitted = admitted;
  }

  convert(ast: ASTNode, depth: number): Syntax {
    const start = ast.start;
    this.#nodes += 1;
    if (this.#nodes > MAX_EXPRESSION_NODES) {
      this.#fail(start, `More than ${MAX_EXPRESSION_NODES} parts`, 'EXPRESSION_LIMIT');
    }
    if (depth > MAX_EXPRESSION_DEPTH) {
      this.#fail(start, `Nested deeper than ${MAX_EXPRESSION_DEPTH}`, 'EXPRESSION_LIMIT');
    }
    const part = (child: ASTNode): Syntax => this.convert(child, depth + 1);
    switch (ast.op) {
      case 'value':
        return this.#literal(ast.args, start);
      case 'id':
        return { kind: 'name', name: this.#name(ast.args, start), start };
      case '.':
        return { kind: 'field', target: part(ast.args[0]), key: ast.args[1], start: ast.pos };
      case '[]':
        return { kind: 'index', target: part(ast.args[0]), index: part(ast.args[1]), start };
      case 'list':
        return { kind: 'list', items: ast.args.map(part), start };
      case 'map':
        return { kind: 'map', entries: ast.args.map(([k, v]) => [part(k), part(v)]), start };
      case '!_':
      case '-_':
        return {
          kind: 'unary',
          operator: ast.op === '!_' ? '!' : '-',
          operand: part(ast.args),
          start,
        };
      case '&&':
      case '||':
        return {
          kind: 'logical',
          operator: ast.op,
          left: part(ast.args[0]),
          right: part(ast.args[1]),
          start,
        };
      case '?:':
        return {
          kind: 'conditional',
          condition: part(ast.args[0]),
          whenTrue: part(ast.args[1]),
          whenFalse: part(ast.args[2]),
          start,
        };
      case 'call':
        return this.#call(ast.args[0], ast.args[1], start, depth);
      case 'rcall':
        return this.#method(ast.args[0], [ast.args[1], ...ast.args[2]], start, depth);
      case '.?':
      case '[?]':
        return this.#fail(start, 'Optional access is not part of the language; test with has()');
      default:
        return {
          kind: 'binary',
          operator: ast.op,
          left: part(ast.args[0]),
          right: part(ast.args[1]),
          start,
        };
    }
  }

  #literal(value: unknown, start: number): LiteralSyntax {
    switch (typeof value) {
      case 'bigint': {
        const double = Number(value);
        if (!Number.isFinite(double) || BigInt(double) !== value) {
          this.#fail(start, 'This integer has no exact JSON number', 'EXPRESSION_TYPE');
        }
        return { kind: 'literal', value: double, start };
      }
      case 'string':
      case 'number':
      case 'boolean':
        return { kind: 'literal', value, start };
      default:
        if (value === null) return { kind: 'literal', value, start };
        return this.#fail(start, 'Bytes and unsigned literals are not JSON', 'EXPRESSION_TYPE');
    }
  }

  #call(name: string, args: readonly ASTNode[], start: number, depth: number): Syntax {
    const parts = args.map((argument) => this.convert(argument, depth + 1));
    const called = this.#name(name, start);
    if (called !== 'has') return { kind: 'call', name: called, method: false, args: parts, start };
    const [operand] = parts;
    if (parts.length !== 1 || (operand?.kind !== 'field' && operand?.kind !== 'index')) {
      return this.#fail(start, 'has() takes one key, as has(a.b) or has(a["b"])');
    }
    return { kind: 'has', operand, start };
  }

  #method(name: string, args: readonly ASTNode[], start: number, depth: number): Syntax {
    if (isMacro(name)) return this.#macro(name, args, start, depth);
    const [target, ...rest] = args;
    if (target?.op === 'id' && target.args === MATH_NAMESPACE) {
      const numbers = rest.map((argument) => this.convert(argument, depth + 1));
      return {
        kind: 'call',
        name: `${MATH_NAMESPACE}.${name}`,
        method: false,
        args: numbers,
        start,
      };
    }
    const parts = args.map((argument) => this.convert(argument, depth + 1));
    return { kind: 'call', name, method: true, args: parts, start };
  }

  #macro(macro: MacroName, args: readonly ASTNode[], start: number, depth: number): MacroSyntax {
    const [target, variable, first, second] = args;
    const count = args.length - 1;
    if (target === undefined || variable?.op !== 'id' || first === undefined) {
      return this.#fail(start, `${macro}() needs a variable name and an expression`);
    }
    if (count > (macro === 'map' ? 3 : 2)) {
      return this.#fail(start, `${macro}() has ${count} arguments`);
    }
    const converted = this.convert(target, depth + 1);
    this.#macros += 1;
    if (this.#macros > MAX_MACRO_NESTING) {
      this.#fail(start, `Macros nested deeper than ${MAX_MACRO_NESTING}`, 'EXPRESSION_LIMIT');
    }
    const filter = second === undefined ? null : this.convert(first, depth + 1);
    const body = this.convert(second ?? first, depth + 1);
    this.#macros -= 1;
    const name = this.#name(variable.args, variable.start);
    return { kind: 'macro', macro, target: converted, variable: name, filter, body, start };
  }

  #name(name: string, start: number): string {
    return this.#admitted.words.get(start) ?? name;
  }

  #fail(start: number, what: string, code: ExpressionErrorCode = 'EXPRESSION_SYNTAX'): never {
    return this.#source.fail(code, start, what);
  }
}

function isMacro(name: string): name is MacroName {
  return MACROS.has(name);
}
