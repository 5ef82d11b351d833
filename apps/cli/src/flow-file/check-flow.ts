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
import { type LoadedFlow, namedSubflows } from './load-flow.ts';
import { unknownFields } from './unknown-fields.ts';

export interface FlowIssues {
  readonly errors: readonly ShownIssue[];
  readonly warnings: readonly ShownIssue[];
}

/** Never throws, whatever the file holds. */
function flowIssues(flow: FlowFile): FlowIssues {
  const { errors, warnings } = validateGraph(flow, { checkExpression: checkFlowExpression });
  const all = [...unknownFields(flow), ...errors];
  return { errors: all.length === 0 ? definitionErrors(flow) : all, warnings };
}

type FlowAndSubflows = Pick<LoadedFlow, 'flow' | 'flows'>;

/** What is wrong with a flow and with those that its subflows name: `file#/place` is in theirs. */
export function loadedFlowIssues(loaded: FlowAndSubflows): FlowIssues {
  const all = [
    flowIssues(loaded.flow),
    ...namedSubflows(loaded).map(([name, flow]) => issuesIn(name, flowIssues(flow))),
  ];
  return {
    errors: all.flatMap(({ errors }) => errors),
    warnings: all.flatMap(({ warnings }) => warnings),
  };
}

function issuesIn(name: string, { errors, warnings }: FlowIssues): FlowIssues {
  const place = ({ path, ...issue }: ShownIssue) => ({ ...issue, path: `${name}#${path}` });
  return { errors: errors.map(place), warnings: warnings.map(place) };
}

/** Throws one `GraphValidationError` with every error of a flow and its subflows. */
export function requireSoundFlow(loaded: FlowAndSubflows, file: string): void {
  const { errors } = loadedFlowIssues(loaded);
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
