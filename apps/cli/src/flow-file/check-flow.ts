/** All that is wrong with a flow file, with places in the file itself. */
import {
  compileGraph,
  type FlowFile,
  flowDefinition,
  flowGraphType,
  GraphValidationError,
} from 'holdfast';
import { checkFlowExpression, validateGraph } from 'holdfast/flow';
import type { ShownIssue } from '../render/error-text.ts';
import { unknownFields } from './unknown-fields.ts';

export interface FlowIssues {
  readonly errors: readonly ShownIssue[];
  readonly warnings: readonly ShownIssue[];
}

/** Never throws, whatever the file holds. */
export function flowIssues(flow: FlowFile): FlowIssues {
  const { errors, warnings } = validateGraph(flow, { checkExpression: checkFlowExpression });
  const all = [...unknownFields(flow), ...errors];
  return { errors: all.length === 0 ? definitionErrors(flow) : all, warnings };
}

/** Throws one `GraphValidationError` with every error. */
export function requireSoundFlow(flow: FlowFile, file: string): void {
  const { errors } = flowIssues(flow);
  if (errors.length > 0) throw new GraphValidationError(`${file} is no sound flow.`, errors);
}

/** What only the graph contract refuses, such as the flow's own id and version. */
function definitionErrors(flow: FlowFile): readonly ShownIssue[] {
  try {
    compileGraph(flowGraphType, flowDefinition(flow));
    return [];
  } catch (error) {
    if (error instanceof GraphValidationError) return error.issues;
    throw error;
  }
}
