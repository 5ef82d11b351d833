/** Refusals of the executor: infrastructure and protocol, never a graph's own outcome. */
import type { ErrorCode } from '../base/error-codes.ts';
import { type ErrorDetails, HoldfastError } from '../base/errors.ts';

/** Thrown by the executor; outcomes of the graph are returned instead (`RunResult`). */
export class GraphExecutionError extends HoldfastError {
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(code, message, details, cause);
    this.name = 'GraphExecutionError';
  }
}
