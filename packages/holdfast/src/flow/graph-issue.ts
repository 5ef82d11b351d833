/** One problem of a flow. Seed 004, "Validation". */

/** The rule that was broken. Each code stands in the closed table with what to do about it. */
export type FlowIssueCode =
  | 'INVALID_FLOW_SHAPE'
  | 'INVALID_ID'
  | 'DUPLICATE_NODE_ID'
  | 'DUPLICATE_EDGE_ID'
  | 'UNKNOWN_NODE_TYPE'
  | 'INVALID_NODE_CONFIG'
  | 'INVALID_EXPRESSION'
  | 'TRIGGER_COUNT'
  | 'UNKNOWN_EDGE_NODE'
  | 'UNKNOWN_OUTPUT'
  | 'NEXT_INTO_NON_LOOP'
  | 'EDGE_INTO_TRIGGER'
  | 'FORWARD_CYCLE'
  | 'NO_FORWARD_INPUT'
  | 'NEXT_FROM_OUTSIDE'
  | 'NEXT_FROM_INNER_LOOP'
  | 'LOOP_WITHOUT_BODY'
  | 'NEXT_UNREACHABLE'
  | 'EDGE_INTO_BODY'
  | 'LOOPS_OVERLAP'
  | 'DUPLICATE_EDGE'
  | 'NO_OUTGOING_EDGE';

/** One thing that is wrong with a flow, and where. */
export interface GraphIssue {
  readonly nodeId?: string;
  readonly edgeId?: string;
  readonly code: FlowIssueCode;
  readonly message: string;
  /** A JSON pointer into the flow. */
  readonly path: string;
  /** In an expression or template: the column of the fault, from 1. */
  readonly column?: number;
}

/** Everything found in one flow. It may be published while there are no errors. */
export interface GraphIssues {
  readonly errors: readonly GraphIssue[];
  readonly warnings: readonly GraphIssue[];
}

/** An issue about the node at `index`. */
export function nodeIssue(
  node: { readonly id: string; readonly index: number; readonly path?: string },
  code: FlowIssueCode,
  message: string,
): GraphIssue {
  return { nodeId: node.id, code, message, path: `/nodes/${node.index}${node.path ?? ''}` };
}

/** An issue about the edge at `index`. */
export function edgeIssue(
  edge: { readonly id: string; readonly index: number; readonly path?: string },
  code: FlowIssueCode,
  message: string,
): GraphIssue {
  return { edgeId: edge.id, code, message, path: `/edges/${edge.index}${edge.path ?? ''}` };
}
