/**
 * The names of occurrences: the step key of seed 004 and the positions of the `flow` form.
 *
 * Invariant: no two occurrences share a name, whatever their node ids hold. A name is split at its
 * last `#`; what follows is digits (and `/` and digits), which hold no `#`, so that the node id is
 * exactly what stands before it.
 */

/** One attempt of one occurrence of a node. */
export interface FlowOccurrence {
  readonly nodeId: string;
  /** Which start of the node, from 1. */
  readonly runs: number;
  /** Which dispatch of this start, from 1. */
  readonly attempt: number;
}

const POSITION = /^flow\/(.+)#([1-9]\d*)(?:\/([1-9]\d*))?$/su;

/**
 * The durable name of one start of a node. Seed 004, "The loop the Workflow runs".
 *
 * @example stepKey('charge', 2) // 'charge#2'
 */
export function stepKey(nodeId: string, runs: number): string {
  return `${nodeId}#${runs}`;
}

/**
 * The position of an occurrence: `flow/<node>#<runs>`, and `/<n>` for its n-th dispatch from 2.
 *
 * @example flowPosition('charge', 2, 3) // 'flow/charge#2/3'
 */
export function flowPosition(nodeId: string, runs: number, attempt = 1): string {
  return attempt === 1 ? `flow/${nodeId}#${runs}` : `flow/${nodeId}#${runs}/${attempt}`;
}

/**
 * The occurrence that a position names, or null for text that is no flow position.
 *
 * @example parseFlowPosition('flow/a#2/3') // { nodeId: 'a', runs: 2, attempt: 3 }
 */
export function parseFlowPosition(position: string): FlowOccurrence | null {
  const match = POSITION.exec(position);
  if (match === null) return null;
  const [, nodeId = '', runs = '', attempt = '1'] = match;
  return { nodeId, runs: Number(runs), attempt: Number(attempt) };
}
