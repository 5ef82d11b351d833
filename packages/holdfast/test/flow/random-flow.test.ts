import fc from 'fast-check';
import { dryRun, type FlowGraph, isSettled, PlanCursor, validateGraph } from 'holdfast/flow';
import { createSeededRandom, randomChoices, randomFlow } from 'holdfast/testing';
import { describe, expect, test } from 'vitest';
import { cursorPlanner, drive, plainPlanner } from './drive.ts';

const seeds = fc.record({
  seed: fc.integer(),
  nodes: fc.integer({ min: 1, max: 40 }),
  looseEnds: fc.boolean(),
});
const chanceOf = (order: number) => {
  const random = createSeededRandom(order);
  return () => random.next();
};

/** What must not depend on the order of completions. */
function ending(graph: FlowGraph, planner: ReturnType<typeof plainPlanner>, keys: string[]) {
  const { nodes } = planner.state();
  return {
    statuses: graph.nodes.map(({ id }) => [id, nodes[id]?.status, nodes[id]?.runs]),
    keys: [...keys].sort(),
    outcome: planner.outcome(),
  };
}

describe('the generator', () => {
  test('makes flows without errors, of exactly the size asked for', () => {
    fc.assert(
      fc.property(seeds, (options) => {
        const graph = randomFlow(options);
        expect(validateGraph(graph).errors).toEqual([]);
        expect(graph.nodes).toHaveLength(options.nodes);
      }),
      { numRuns: 500 },
    );
  });

  test('reaches nested loops, joins, skips, error edges and both endings', () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 200; seed += 1) {
      const graph = randomFlow({ seed, nodes: 40, looseEnds: seed % 2 === 0 });
      const { plan, outcome } = dryRun(graph, randomChoices(graph, seed));
      seen.add(outcome);
      for (const { status, runs, branches } of Object.values(plan.nodes)) {
        seen.add(status);
        if (branches?.includes('error') === true) seen.add('error edge');
        if (runs > 9) seen.add('nested loops');
      }
      const inputs = graph.edges.map((edge) => edge.target);
      if (new Set(inputs).size < inputs.length) seen.add('join');
    }
    expect([...seen].sort()).toEqual([
      'error edge',
      'join',
      'nested loops',
      'pending',
      'rejected',
      'skipped',
      'succeeded',
    ]);
  });

  test('the same seed gives the same flow', () => {
    expect(randomFlow({ seed: 5, nodes: 60 })).toEqual(randomFlow({ seed: 5, nodes: 60 }));
    expect(randomFlow({ seed: 5, nodes: 60 })).not.toEqual(randomFlow({ seed: 6, nodes: 60 }));
  });
});

test('B02: any order of the same completions ends the same, with the same step keys', () => {
  fc.assert(
    fc.property(seeds, fc.integer(), (options, order) => {
      const graph = randomFlow(options);
      const choose = randomChoices(graph, options.seed);
      const waves = dryRun(graph, choose);
      const planner = plainPlanner(graph);
      const keys = drive(planner, { graph, choose, chance: chanceOf(order) });
      expect(new Set(keys).size).toBe(keys.length);
      const state = { ...planner, state: () => waves.plan, outcome: () => waves.outcome };
      expect(ending(graph, planner, keys)).toEqual(ending(graph, state, [...waves.keys]));
    }),
    { numRuns: 1_000 },
  );
});

test('without loose ends every run succeeds with no node unresolved', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 60 }), (seed, nodes) => {
      const graph = randomFlow({ seed, nodes });
      const { plan, outcome } = dryRun(graph, randomChoices(graph, seed));
      const statuses = Object.values(plan.nodes).map((node) => node.status);
      // A rejection may still lead nowhere at the end of the flow.
      const resolved = statuses.every((status) => status === 'succeeded' || status === 'skipped');
      expect(outcome === 'rejected' || resolved).toBe(true);
      expect(statuses).not.toContain('running');
    }),
    { numRuns: 300 },
  );
});

test('the cursor gives the answers of the plain functions at every step', () => {
  fc.assert(
    fc.property(seeds, fc.integer(), (options, order) => {
      const graph = randomFlow(options);
      const choose = randomChoices(graph, options.seed);
      const plain = plainPlanner(graph);
      const cursor = cursorPlanner(graph);
      const both: typeof plain = {
        ready: () => {
          const answer = plain.ready();
          expect(cursor.ready()).toEqual(answer);
          return answer;
        },
        begin: (id) => {
          const answer = plain.begin(id);
          expect(cursor.begin(id)).toEqual(answer);
          return answer;
        },
        complete: (id, branches) => {
          plain.complete(id, branches);
          cursor.complete(id, branches);
        },
        loop: (id, next) => {
          plain.loop(id, next);
          cursor.loop(id, next);
        },
        fail: (id) => {
          const answer = plain.fail(id);
          expect(cursor.fail(id)).toBe(answer);
          return answer;
        },
        mark: (id, status) => {
          plain.mark(id, status);
          cursor.mark(id, status);
        },
        outcome: () => plain.outcome(),
        state: () => plain.state(),
      };
      const each = () => {
        expect(cursor.state()).toEqual(plain.state());
        if (both.ready().ready.length > 0) return;
        expect(cursor.cursor.isSettled()).toBe(isSettled(graph, plain.state()));
        expect(cursor.outcome()).toBe(plain.outcome());
      };
      drive(both, { graph, choose, chance: chanceOf(order), each });
      expect(cursor.outcome()).toBe(plain.outcome());
    }),
    { numRuns: 400 },
  );
});

test('a saved cursor goes on exactly as the one that was saved', () => {
  fc.assert(
    fc.property(seeds, fc.integer(), (options, order) => {
      const graph = randomFlow(options);
      const choose = randomChoices(graph, options.seed);
      const first = cursorPlanner(graph);
      const second = { now: cursorPlanner(graph) };
      const reopened = () => {
        const saved = JSON.parse(JSON.stringify(second.now.cursor.save()));
        second.now = cursorPlanner(graph, new PlanCursor(first.cursor.topology, saved));
      };
      const both: typeof first = {
        ...first,
        ready: () => {
          const answer = first.ready();
          reopened();
          expect(second.now.ready().ready).toEqual(answer.ready);
          return answer;
        },
        begin: (id) => {
          second.now.begin(id);
          return first.begin(id);
        },
        complete: (id, branches) => {
          second.now.complete(id, branches);
          first.complete(id, branches);
        },
        loop: (id, next) => {
          second.now.loop(id, next);
          first.loop(id, next);
        },
        fail: (id) => {
          second.now.fail(id);
          return first.fail(id);
        },
        mark: (id, status) => {
          second.now.mark(id, status);
          first.mark(id, status);
        },
      };
      const each = () => expect(second.now.state()).toEqual(first.state());
      drive(both, { graph, choose, chance: chanceOf(order), each });
      expect(second.now.outcome()).toBe(first.outcome());
    }),
    { numRuns: 200 },
  );
});
