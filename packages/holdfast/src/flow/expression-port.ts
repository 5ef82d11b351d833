/** How validation asks about expressions: the expression language itself is another room's. */

import type { SourceKind } from './config-fields.ts';

/** What an expression may read. */
export interface FlowExpressionScope {
  readonly nodeIds: ReadonlySet<string>;
  /** False outside every loop: `loop` has no iteration there. */
  readonly inLoop: boolean;
}

/** What is wrong with one expression, and at which column (from 1). */
export interface ExpressionFault {
  readonly message: string;
  /** Where in the source, from 1. */
  readonly column: number;
}

/** Everything that is wrong with one source text. */
export type CheckExpression = (
  source: string,
  kind: SourceKind,
  scope: FlowExpressionScope,
) => readonly ExpressionFault[];
