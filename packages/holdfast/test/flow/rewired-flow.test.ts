import fc from 'fast-check';
import { dryRun, type FlowEdge, type FlowGraph, outputsOf, validateGraph } from 'holdfast/flow';
import { createSeededRandom, randomChoices, randomFlow, type SeededRandom } from 'holdfast/testing';
import { expect, test } from 'vitest';
import { cursorPlanner, drive, plainPlanner } from './drive.ts';

/** A valid flow with a few edges added, moved or taken away at random: mostly no longer valid. */
function rewired(seed: number): FlowGraph {
  const random = createSeededRandom(seed);
  const { nodes, edges } = randomFlow({ seed, nodes: random.integer(3, 14) });
  const changed = [...edges];
  for (let change = random.integer(1, 3); change > 0; change -= 1) {
    const at = random.integer(0, changed.length - 1);
    const edge = changed[at];
    const what = random.next();
    if (what < 0.5 || edge === undefined) changed.push(newEdge(nodes, random, `x${change}`));
    else if (what < 0.8) changed[at] = { ...edge, target: random.pick(nodes).id };
    else changed.splice(at, 1);
  }
  return { nodes, edges: changed };
}

function newEdge(nodes: FlowGraph['nodes'], random: SeededRandom, id: string): FlowEdge {
  const from = random.pick(nodes);
  const sourceHandle = random.pick([...outputsOf(from), 'out']);
  const edge = { id, source: from.id, target: random.pick(nodes).id, sourceHandle };
  return random.chance(0.3) ? { ...edge, targetHandle: 'next' } : edge;
}

test('validateGraph passes no flow that plans differently in another order', () => {
  let valid = 0;
  fc.assert(
    fc.property(fc.integer(), fc.integer(), (seed, order) => {
      const graph = rewired(seed);
      if (validateGraph(graph).errors.length > 0) return;
      valid += 1;
      const choose = randomChoices(graph, seed);
      const waves = dryRun(graph, choose, { maxSteps: 5_000 });
      for (const planner of [plainPlanner(graph), cursorPlanner(graph)]) {
        const random = createSeededRandom(order);
        const keys = drive(planner, { graph, choose, chance: () => random.next() });
        expect([...keys].sort()).toEqual([...waves.keys].sort());
        expect(planner.outcome()).toBe(waves.outcome);
        expect(planner.state().nodes).toEqual(waves.plan.nodes);
      }
    }),
    { numRuns: 6_000 },
  );
  // Otherwise nothing was tried.
  expect(valid).toBeGreaterThan(300);
});
