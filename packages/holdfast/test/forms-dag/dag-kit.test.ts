/** The dag form under the graph-type kit. */
import { type DagNodeState, type DagState, dagGraphType, type GraphCommand } from 'holdfast';
import { assertGraphTypeConformance } from 'holdfast/testing';
import { test } from 'vitest';
import { dagOf, event } from './dags.ts';

const definition = dagOf({ a: 'required', b: 'optional', z: 'finalizer' }, ['a>b'], {
  retryCapPerNode: 1,
});
const pending: DagNodeState = {
  status: 'pending',
  attempts: 0,
  failures: 0,
  pauseReason: null,
  failureCode: null,
  result: null,
};
const started: DagNodeState = { ...pending, status: 'in-flight', attempts: 1 };
const failedOnce = { attempts: 1, failures: 1, failureCode: 'EFFECT_FAILED' };
const aDone: DagNodeState = { ...pending, ...failedOnce, status: 'passed', attempts: 2, result: 7 };
const bFailed: DagNodeState = { ...pending, ...failedOnce, status: 'failed' };

function states(a: DagNodeState, b: DagNodeState, z: DagNodeState): DagState {
  return { nodes: { a, b, z } };
}

function occurrence(nodeId: string, attempt: number) {
  return { nodeId, position: `dag/${nodeId}/${attempt}` };
}

function dispatch(nodeId: string, attempt: number, results?: Record<string, number>): GraphCommand {
  const positionSummary = `node ${nodeId}, attempt ${attempt}`;
  return {
    kind: 'dispatch',
    ...occurrence(nodeId, attempt),
    input: results === undefined ? { positionSummary } : { positionSummary, results },
    ...(attempt > 1 && { retryOf: `dag/${nodeId}/1` }),
  };
}

const failure = { code: 'EFFECT_FAILED', message: 'no', retryable: true };
const identity = {
  source: 'npm:dag',
  version: '1.0.0',
  digest: `sha256:${'3'.repeat(64)}`,
} as const;

test('the kit accepts it, its own cursor included', () => {
  assertGraphTypeConformance({
    graphType: dagGraphType,
    definition,
    events: [
      event('node-dispatched', occurrence('a', 1)),
      event('node-failed', { ...occurrence('a', 1), ...failure }),
      event('node-dispatched', occurrence('a', 2)),
      event('node-completed', { ...occurrence('a', 2), result: 7 }),
      event('node-dispatched', occurrence('b', 1)),
      event('node-failed', { ...occurrence('b', 1), ...failure }),
      event('node-dispatched', occurrence('z', 1)),
      event('node-completed', { ...occurrence('z', 1), result: null }),
    ],
    invalidDefinitions: [dagOf({ a: 'required', b: 'required' }, ['a>b', 'b>a'])],
    planResolution: {
      package: identity,
      admission: { package: identity, permissions: [] },
      executionLanes: [],
    },
    expected: {
      states: [
        states(pending, pending, pending),
        states(started, pending, pending),
        states({ ...pending, ...failedOnce }, pending, pending),
        states({ ...started, ...failedOnce, attempts: 2 }, pending, pending),
        states(aDone, pending, pending),
        states(aDone, started, pending),
        states(aDone, bFailed, pending),
        states(aDone, bFailed, started),
        states(aDone, bFailed, { ...started, status: 'passed' }),
      ],
      commands: [
        [dispatch('a', 1)],
        [],
        [dispatch('a', 2)],
        [],
        [dispatch('b', 1, { a: 7 })],
        [],
        [dispatch('z', 1)],
        [],
        [{ kind: 'complete', output: { nodes: { a: 7, z: null } } }],
      ],
      bounds: {
        dispatches: { min: { kind: 'known', value: 3 }, max: { kind: 'known', value: 4 } },
        maxConcurrency: { kind: 'known', value: 100 },
        maxFanOut: { kind: 'known', value: 100 },
      },
    },
  });
});
