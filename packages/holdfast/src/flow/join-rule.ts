/**
 * The rules that the plain functions and the incremental cursor share, as pure predicates.
 *
 * Seed 004, "Readiness" and "Skip propagation".
 */

/** What a pending node's forward inputs say: run, be skipped, or wait. */
export type JoinVerdict = 'ready' | 'skip' | 'wait';

/** Counts over the forward inputs of a node. */
export interface JoinInputs {
  readonly total: number;
  /** Inputs that are not resolved yet. */
  readonly pending: number;
  readonly active: number;
}

/**
 * The join: every forward input resolved and one active → ready; all inactive → skip. A node
 * without forward inputs is ready once, while it has not run.
 */
export function joinVerdict(inputs: JoinInputs, runs: number): JoinVerdict {
  if (inputs.total === 0) return runs === 0 ? 'ready' : 'wait';
  if (inputs.pending > 0) return 'wait';
  return inputs.active > 0 ? 'ready' : 'skip';
}
