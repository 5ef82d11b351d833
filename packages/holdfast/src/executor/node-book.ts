/** What this executor knows of a node by its binding, and what makes a value its result. */
import type { NodeBinding, WaitEndings } from '../attempt/binding.ts';
import { contracted, type ResultCheck, resultFault } from '../attempt/result-rule.ts';
import { errorText } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { ExecutorSettings } from './options.ts';

export class NodeBook {
  readonly #bindings: ExecutorSettings['bindings'];
  readonly #check: ResultCheck | null;

  constructor({ bindings, graph }: Pick<ExecutorSettings, 'bindings' | 'graph'>) {
    this.#bindings = bindings;
    this.#check = graph.validateNodeResult ?? null;
  }

  /** Throws `MISSING_NODE_BINDING`. */
  binding(nodeId: string): NodeBinding {
    const binding = this.#bindings.get(nodeId);
    if (binding !== undefined) return binding;
    throw new GraphExecutionError('MISSING_NODE_BINDING', `Node ${nodeId} has no binding.`, {
      nodeId,
    });
  }

  /** What ends the waits of a node. */
  endingsOf(nodeId: string): WaitEndings {
    return this.binding(nodeId).endings;
  }

  /**
   * The result of the node that a value from outside stands for: by the contract of its binding,
   * and nothing that the graph refuses. Throws `RESULT_INVALID`.
   */
  resultOf(nodeId: string, value: JsonValue): JsonValue {
    const result = this.#contracted(nodeId, value);
    const fault = resultFault(this.#check, nodeId, result);
    if (fault !== null) throw refusal(nodeId, fault);
    return result;
  }

  #contracted(nodeId: string, value: JsonValue): JsonValue {
    const binding = this.binding(nodeId);
    try {
      return contracted(binding, value);
    } catch (error) {
      throw refusal(nodeId, errorText(error), error);
    }
  }
}

function refusal(nodeId: string, fault: string, cause?: unknown): GraphExecutionError {
  const text = `${nodeId} cannot have that result: ${fault}`;
  return new GraphExecutionError('RESULT_INVALID', text, { nodeId }, cause);
}
