/** How often the code of each step ran, and why: from the calls counted and from the record. */
import type { EventEnvelope } from 'holdfast';

export interface StepAccount {
  readonly nodeId: string;
  /** How often its function was called; null for a step without a function of its own. */
  readonly calls: number | null;
  readonly why: string;
}

interface Tally {
  occurrences: number;
  resumed: number;
  readonly reconciled: string[];
}

/** `calls` holds a node id for every call, in the order of the calls. */
export function accountSteps(
  events: readonly EventEnvelope[],
  calls: readonly string[],
): readonly StepAccount[] {
  const tallies = new Map<string, Tally>();
  const nodeOf = new Map<string, string>();
  const tally = (nodeId: string): Tally => {
    const known = tallies.get(nodeId) ?? { occurrences: 0, resumed: 0, reconciled: [] };
    tallies.set(nodeId, known);
    return known;
  };
  for (const { type, payload } of events) {
    const { nodeId = '', position = '' } = payload as { nodeId?: string; position?: string };
    if (type === 'graph:node-dispatched') {
      nodeOf.set(position, nodeId);
      tally(nodeId).occurrences += 1;
    } else if (type === 'graph:node-resumed') tally(nodeId).resumed += 1;
    else if (type === 'graph:attempt-reconciled') {
      const { kind, reason } = payload as { kind: string; reason: string };
      tally(nodeOf.get(position) ?? '').reconciled.push(`${kind}, because ${reason}`);
    }
  }
  return [...tallies].map(([nodeId, counts]) => {
    const own = calls.filter((called) => called === nodeId).length;
    return { nodeId, calls: own === 0 ? null : own, why: whyOf(counts, own) };
  });
}

function whyOf({ occurrences, resumed, reconciled }: Tally, calls: number): string {
  const retried = reconciled.filter((words) => words.startsWith('retry')).length;
  const crashes = resumed - retried;
  const unbegun = calls === 0 ? 0 : occurrences + resumed - calls;
  const parts = [
    occurrences === 1 ? 'once' : `${occurrences} times round the loop`,
    ...(crashes > 0 ? [`${crashes} × again after a kill, it is retry-safe`] : []),
    ...(unbegun > 0 ? [`${unbegun} × killed before its code began`] : []),
    ...grouped(reconciled).map((words) => `uncertain after a kill: ${words}`),
  ];
  return parts.join('; ');
}

/** Equal words once, with their number. */
function grouped(words: readonly string[]): readonly string[] {
  return [...new Set(words)].map((one) => {
    const count = words.filter((other) => other === one).length;
    return count === 1 ? one : `${one} (${count} ×)`;
  });
}
