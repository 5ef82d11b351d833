/**
 * The syntax tree of an expression: what the rest of this room works on. Only `parse.ts` knows the
 * parser behind it.
 *
 * Invariants: every number is a double; `start` is an offset into the expression's own source.
 */

interface SyntaxBase {
  readonly start: number;
}

export type BinaryOperator =
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'in'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%';

export type MacroName = 'all' | 'exists' | 'exists_one' | 'map' | 'filter';

export interface LiteralSyntax extends SyntaxBase {
  readonly kind: 'literal';
  readonly value: null | boolean | number | string;
}

export interface NameSyntax extends SyntaxBase {
  readonly kind: 'name';
  readonly name: string;
}

/** `target.key` */
export interface FieldSyntax extends SyntaxBase {
  readonly kind: 'field';
  readonly target: Syntax;
  readonly key: string;
}

/** `target[index]` */
export interface IndexSyntax extends SyntaxBase {
  readonly kind: 'index';
  readonly target: Syntax;
  readonly index: Syntax;
}

export interface ListSyntax extends SyntaxBase {
  readonly kind: 'list';
  readonly items: readonly Syntax[];
}

export interface MapSyntax extends SyntaxBase {
  readonly kind: 'map';
  readonly entries: readonly (readonly [Syntax, Syntax])[];
}

export interface UnarySyntax extends SyntaxBase {
  readonly kind: 'unary';
  readonly operator: '!' | '-';
  readonly operand: Syntax;
}

export interface BinarySyntax extends SyntaxBase {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Syntax;
  readonly right: Syntax;
}

export interface LogicalSyntax extends SyntaxBase {
  readonly kind: 'logical';
  readonly operator: '&&' | '||';
  readonly left: Syntax;
  readonly right: Syntax;
}

/** `condition ? then : otherwise` */
export interface ConditionalSyntax extends SyntaxBase {
  readonly kind: 'conditional';
  readonly condition: Syntax;
  readonly whenTrue: Syntax;
  readonly whenFalse: Syntax;
}

/** `name(args)` or `target.name(args)`; the target of a method is the first of `args`. */
export interface CallSyntax extends SyntaxBase {
  readonly kind: 'call';
  readonly name: string;
  readonly method: boolean;
  readonly args: readonly Syntax[];
}

/** `target.map(variable, body)`, `target.map(variable, filter, body)`, `target.all(…)` … */
export interface MacroSyntax extends SyntaxBase {
  readonly kind: 'macro';
  readonly macro: MacroName;
  readonly target: Syntax;
  readonly variable: string;
  readonly filter: Syntax | null;
  readonly body: Syntax;
}

/** `has(target.key)` */
export interface HasSyntax extends SyntaxBase {
  readonly kind: 'has';
  readonly operand: FieldSyntax | IndexSyntax;
}

export type Syntax =
  | LiteralSyntax
  | NameSyntax
  | FieldSyntax
  | IndexSyntax
  | ListSyntax
  | MapSyntax
  | UnarySyntax
  | BinarySyntax
  | LogicalSyntax
  | ConditionalSyntax
  | CallSyntax
  | MacroSyntax
  | HasSyntax;

/** The parts of a syntax node, in source order. */
export function childrenOf(node: Syntax): readonly Syntax[] {
  switch (node.kind) {
    case 'literal':
    case 'name':
      return [];
    case 'field':
      return [node.target];
    case 'index':
      return [node.target, node.index];
    case 'list':
      return node.items;
    case 'map':
      return node.entries.flat();
    case 'unary':
    case 'has':
      return [node.operand];
    case 'binary':
    case 'logical':
      return [node.left, node.right];
    case 'conditional':
      return [node.condition, node.whenTrue, node.whenFalse];
    case 'call':
      return node.args;
    case 'macro':
      return [node.target, ...(node.filter === null ? [] : [node.filter]), node.body];
  }
}
