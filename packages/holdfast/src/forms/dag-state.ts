/**
 * The state of a dag's nodes, and how one recorded event changes one node.
 *
 * Invariants: `attempts` counts dispatches, so `dag/<node>/<attempts>` is the position of the open
 * or last occurrence; events that name another position, or do not fit the status, change
 * nothing. Both the plain functions and the cursor fold with `nextNodeState`.
 */
import { freezeJson, isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { GraphEvent } from '../graph/graph-type.ts';
import type { DagData, DagNodeKind } from './dag-definition.ts';

/** Where a node of a dag stands. */
export type DagNodeStatus = 'pending' | 'in-flight' | 'paused' | 'passed' | 'skipped' | 'failed';

/** What is known of one node of a dag. */
export type DagNodeState = {
  readonly status: DagNodeStatus;
  /** Dispatches so far. */
  readonly attempts: number;
  /** Failures that count against the retry cap. */
  readonly failures: number;
  /** Why it is paused, else null. */
  readonly pauseReason: string | null;
  /** The code of the last failure, else null. */
  readonly failureCode: string | null;
  /** What it completed with, else null. */
  readonly result: JsonValue;
};

/** The state of a dag's run: its nodes by id. */
export type DagState = { readonly nodes: Readonly<Record<string, DagNodeState>> };

/** What decides over a failed node. */
export interface DagRetryRule {
  readonly kind: DagNodeKind;
  readonly data: DagData;
}

export const FIRST_NODE_STATE: DagNodeState = freezeJson({
  status: 'pending',
  attempts: 0,
  failures: 0,
  pauseReason: null,
  failureCode: null,
  result: null,
});

/** The position of the given attempt of a node; attempts count from 1. */
export function dagPosition(nodeId: string, attempt: number): string {
  return `dag/${nodeId}/${attempt}`;
}

/** The node that an event is about, or undefined when it is about none. */
export function nodeIdOf(event: GraphEvent): string | undefined {
  const { payload } = event;
  const nodeId = isJsonObject(payload) ? payload['nodeId'] : undefined;
  return typeof nodeId === 'string' ? nodeId : undefined;
}

/** The node after the event; the same object when the event changes nothing. */
export function nextNodeState(
  nodeId: string,
  node: DagNodeState,
  event: GraphEvent,
  rule: DagRetryRule,
): DagNodeState {
  const payload = event.payload as JsonObject;
  const { status, attempts } = node;
  if (event.type === 'node-dispatched') {
    const next = attempts + 1;
    const fits = status === 'pending' && payload['position'] === dagPosition(nodeId, next);
    return fits ? { ...node, status: 'in-flight', attempts: next } : node;
  }
  const open = status === 'in-flight' || status === 'paused';
  if (!open || payload['position'] !== dagPosition(nodeId, attempts)) return node;
  switch (event.type) {
    case 'node-completed':
      return completed(node, payload['result'] ?? null);
    case 'node-failed':
      return failed(node, payload, rule);
    case 'node-paused':
      return { ...node, status: 'paused', pauseReason: textOf(payload['reason']) };
    case 'node-resumed':
      return { ...node, status: 'in-flight', pauseReason: null };
    default:
      return node;
  }
}

/** True when the successors of a node need not wait for it any longer. */
export function isSatisfied(kind: DagNodeKind, status: DagNodeStatus): boolean {
  if (status === 'failed') return kind === 'optional';
  return status === 'passed' || status === 'skipped';
}

/** True when a node's result stands in inputs and in the output. */
export function hasResult(status: DagNodeStatus): boolean {
  return status === 'passed' || status === 'skipped';
}

function completed(node: DagNodeState, result: JsonValue): DagNodeState {
  const skipped = isJsonObject(result) && result['skipped'] === true;
  return { ...node, status: skipped ? 'skipped' : 'passed', pauseReason: null, result };
}

function failed(
  node: DagNodeState,
  payload: JsonObject,
  { kind, data }: DagRetryRule,
): DagNodeState {
  const failureCode = textOf(payload['code']);
  // A halt is no failure of the node: it counts against no cap, whatever kind the node is of.
  if (failureCode === 'ABORTED' && payload['retryable'] === true) {
    return { ...node, status: 'pending', pauseReason: null, failureCode };
  }
  const failures = node.failures + 1;
  const again =
    kind === 'required' &&
    !data.stopOnError &&
    payload['retryable'] !== false &&
    failures <= data.retryCapPerNode;
  return {
    ...node,
    status: again ? 'pending' : 'failed',
    failures,
    pauseReason: null,
    failureCode,
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
