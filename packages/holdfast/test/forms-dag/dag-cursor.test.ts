/** The incremental cursor answers what the plain functions answer, for any dag and any order. */

import fc from 'fast-check';
import type { DagDefinition, GraphCommand, GraphEvent } from 'holdfast';
import { expect, test } from 'vitest';
import { type Choice, choice, compileDag, dag, event, type Opened, outcome } from './dags.ts';

/** Drives a dag as a host would, and hands every step to `check`. */
function drive(
  definition: DagDefinition,
  choices: readonly Choice[],
  check: (host: Host) => void,
): Host {
  const host = new Host(definition);
  check(host);
  for (const { pick, step } of choices) {
    const decision = host.cursor.decide();
    for (const command of decision) {
      if (command.kind === 'dispatch') host.dispatch(command);
      check(host);
    }
    const open = [...host.open.values()];
    const chosen = open[pick % Math.max(1, open.length)];
    if (chosen === undefined) break;
    if (host.paused.has(chosen.position) && step.kind === 'paused') host.resume(chosen);
    else host.settle(chosen, outcome(chosen, step), step.kind === 'paused');
    check(host);
  }
  return host;
}

class Host {
  readonly graph: ReturnType<typeof compileDag>;
  readonly cursor: ReturnType<ReturnType<typeof compileDag>['open']>;
  readonly open = new Map<string, Opened>();
  readonly paused = new Set<string>();
  readonly positions: string[] = [];
  readonly events: GraphEvent[] = [];
  state: ReturnType<ReturnType<typeof compileDag>['initialState']>;

  constructor(definition: DagDefinition) {
    this.graph = compileDag(definition);
    this.cursor = this.graph.open();
    this.state = this.graph.initialState();
  }

  dispatch({ nodeId, position }: GraphCommand & { kind: 'dispatch' }): void {
    this.positions.push(position);
    this.open.set(position, { nodeId, position });
    this.#record(event('node-dispatched', { nodeId, position }));
  }

  settle({ position }: Opened, outcomeEvent: GraphEvent, paused: boolean): void {
    if (paused) this.paused.add(position);
    else {
      this.open.delete(position);
      this.paused.delete(position);
    }
    this.#record(outcomeEvent);
  }

  resume({ nodeId, position }: Opened): void {
    this.paused.delete(position);
    this.#record(event('node-resumed', { nodeId, position }));
  }

  #record(recorded: GraphEvent): void {
    this.events.push(recorded);
    this.cursor.apply(recorded);
    this.state = this.graph.reduce(this.state, recorded);
  }
}

test('at every event: same decision and state, also when opened again from a save', () => {
  fc.assert(
    fc.property(dag, fc.array(choice, { maxLength: 60 }), (definition, choices) => {
      drive(definition, choices, ({ graph, cursor, state }) => {
        const plain = graph.decide(state);
        expect(cursor.decide()).toEqual(plain);
        expect(cursor.state()).toEqual(state);
        const opened = graph.open(JSON.parse(JSON.stringify(cursor.save())));
        expect(opened.decide()).toEqual(plain);
        expect(opened.state()).toEqual(state);
      });
    }),
    { numRuns: 150 },
  );
});

test('a cursor that is only asked now and then answers the same', () => {
  fc.assert(
    fc.property(dag, fc.array(choice, { maxLength: 80 }), (definition, choices) => {
      const host = drive(definition, choices, () => undefined);
      expect(host.cursor.decide()).toEqual(host.graph.decide(host.state));
      expect(host.cursor.state()).toEqual(host.state);
    }),
    { numRuns: 400 },
  );
});

test('events that no host would record so, fitting or not, leave both alike', () => {
  const given = fc.record({
    pick: fc.nat({ max: 1_000 }),
    type: fc.constantFrom(
      'node-dispatched',
      'node-dispatched',
      'node-completed',
      'node-failed',
      'node-paused',
      'node-resumed',
      'other',
    ),
    // How far the position named is from the one that fits.
    off: fc.constantFrom(0, 0, 0, 0, 1, -1),
    code: fc.constantFrom('ABORTED', 'EFFECT_FAILED'),
    retryable: fc.boolean(),
  });
  fc.assert(
    fc.property(dag, fc.array(given, { minLength: 10, maxLength: 60 }), (definition, events) => {
      const graph = compileDag(definition);
      const cursor = graph.open();
      let state = graph.initialState();
      for (const { pick, type, off, ...rest } of events) {
        const { id } = definition.nodes[pick % definition.nodes.length] ?? { id: 'nobody' };
        const attempts = state.nodes[id]?.attempts ?? 0;
        const attempt = attempts + (type === 'node-dispatched' ? 1 : 0) + off;
        const position = `dag/${id}/${attempt}`;
        const fields = { ...rest, nodeId: id, position, result: 1, reason: 'r', message: 'm' };
        cursor.apply(event(type, fields));
        state = graph.reduce(state, event(type, fields));
        expect(cursor.decide()).toEqual(graph.decide(state));
        expect(cursor.state()).toEqual(state);
      }
    }),
    { numRuns: 300 },
  );
});

test('limits hold, positions are new, predecessors are settled, ends leave nothing open', () => {
  fc.assert(
    fc.property(dag, fc.array(choice, { maxLength: 80 }), (definition, choices) => {
      const { globalConcurrency, keyedConcurrency, stopOnError } = definition.data;
      const settled = new Set<string>();
      const host = drive(definition, choices, ({ open, positions, state, cursor }) => {
        expect(open.size).toBeLessThanOrEqual(globalConcurrency);
        for (const [key, limit] of Object.entries(keyedConcurrency)) {
          const used = [...open.values()].filter(({ nodeId }) => keyOf(definition, nodeId) === key);
          expect(used.length).toBeLessThanOrEqual(limit);
        }
        expect(new Set(positions).size).toBe(positions.length);
        for (const [id, { status }] of Object.entries(state.nodes)) {
          const optional = kindOf(definition, id) === 'optional';
          if (['passed', 'skipped'].includes(status) || (status === 'failed' && optional)) {
            settled.add(id);
          }
        }
        const last = cursor.decide()[0]?.kind;
        if (last === 'complete') expect(open.size).toBe(0);
        if (last === 'fail' && !stopOnError) expect(open.size).toBe(0);
      });
      for (const position of host.positions) {
        const nodeId = position.split('/')[1];
        const sources = definition.edges.filter((edge) => edge.target === nodeId);
        for (const { source } of sources) expect(settled.has(source)).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

test('a run whose every attempt passes ends complete, each node having run once', () => {
  fc.assert(
    fc.property(
      dag,
      fc.array(fc.nat({ max: 1_000 }), { minLength: 12, maxLength: 12 }),
      (definition, picks) => {
        const passes = picks.map(
          (pick): Choice => ({
            pick,
            step: { kind: 'completed', skipped: false },
          }),
        );
        const host = drive(definition, passes, () => undefined);
        const ids = definition.nodes.map(({ id }) => id);
        expect(host.positions.toSorted()).toEqual(ids.map((id) => `dag/${id}/1`).toSorted());
        const nodes = Object.fromEntries(ids.map((id) => [id, { from: id }]));
        expect(host.cursor.decide()).toEqual([{ kind: 'complete', output: { nodes } }]);
      },
    ),
    { numRuns: 300 },
  );
});

function keyOf(definition: DagDefinition, nodeId: string): string | null {
  return definition.nodes.find(({ id }) => id === nodeId)?.data.key ?? null;
}

function kindOf(definition: DagDefinition, nodeId: string): string | undefined {
  return definition.nodes.find(({ id }) => id === nodeId)?.data.kind;
}
