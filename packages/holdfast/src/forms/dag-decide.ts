/**
 * The plain `decide` of a dag: read off the whole state, each time anew. It is the definition of
 * what the incremental cursor must answer.
 *
 * Rules: an open occurrence (in flight or paused: a pause may be resumed without a new decision)
 * holds its slots. Finalizers come when no other node is open or can start. With `stopOnError` a
 * failed required node stops the rest: at once if there are no finalizers to run.
 */
import type { GraphCommand } from '../graph/commands.ts';
import {
  type DagNodePlan,
  type DagPlan,
  dispatchOf,
  endOf,
  failOf,
  type NodeStateAt,
} from './dag-plan.ts';
import { isSatisfied } from './dag-state.ts';

export function decideDag(plan: DagPlan, stateAt: NodeStateAt): readonly GraphCommand[] {
  const statusOf = ({ index }: DagNodePlan): string => stateAt(index).status;
  const failed = plan.nodes.filter(
    (node) => node.kind === 'required' && statusOf(node) === 'failed',
  );
  const stopped = plan.data.stopOnError && failed.length > 0;
  if (stopped && !plan.hasFinalizers) return [failOf(failed, stateAt)];
  const workers = plan.nodes.filter(({ kind }) => kind !== 'finalizer');
  const ready = stopped ? [] : workers.filter((node) => isReady(plan, node, stateAt));
  const open = plan.nodes.filter((node) => isOpen(statusOf(node)));
  const workersLeft = ready.length > 0 || open.some(({ kind }) => kind !== 'finalizer');
  const candidates = workersLeft
    ? ready
    : plan.nodes.filter((node) => node.kind === 'finalizer' && statusOf(node) === 'pending');
  const started = withFreeSlot(plan, candidates, open);
  if (started.length > 0) return started.map((node) => dispatchOf(plan, node, stateAt));
  if (open.some((node) => statusOf(node) === 'in-flight')) return [];
  const paused = open[0];
  if (paused === undefined) return [endOf(plan, stateAt)];
  return [pauseOf(stateAt(paused.index).pauseReason)];
}

/** A pause needs a reason that is text. */
export function pauseOf(reason: string | null): GraphCommand {
  const given = reason === null || reason.trim() === '';
  return { kind: 'pause', reason: given ? 'A node is paused.' : reason };
}

function isOpen(status: string): boolean {
  return status === 'in-flight' || status === 'paused';
}

function isReady(plan: DagPlan, node: DagNodePlan, stateAt: NodeStateAt): boolean {
  if (stateAt(node.index).status !== 'pending') return false;
  return node.predecessors.every((index) => {
    const kind = plan.nodes[index]?.kind ?? 'required';
    return isSatisfied(kind, stateAt(index).status);
  });
}

/** The candidates that the limits let start now, in declaration order. */
function withFreeSlot(
  { data }: DagPlan,
  candidates: readonly DagNodePlan[],
  open: readonly DagNodePlan[],
): readonly DagNodePlan[] {
  let slots = data.globalConcurrency - open.length;
  const taken = new Map<string, number>();
  for (const { key } of open) if (key !== null) taken.set(key, (taken.get(key) ?? 0) + 1);
  return candidates.filter(({ key }) => {
    if (slots <= 0) return false;
    if (key !== null) {
      const used = taken.get(key) ?? 0;
      if (used >= (data.keyedConcurrency[key] ?? 1)) return false;
      taken.set(key, used + 1);
    }
    slots -= 1;
    return true;
  });
}
