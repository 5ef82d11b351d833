/**
 * Planning a whole random flow with the incremental cursor: compile it, then plan again after every
 * completion, in random order. No store and no executor: this is the planner alone.
 */
import { branchesOf, compileTopology, type FlowGraph, PlanCursor } from 'holdfast/flow';
import { randomFlow } from 'holdfast/testing';
import { heapMb } from './memory.ts';

export interface PlannerFigures {
  readonly nodes: number;
  readonly edges: number;
  /** Completions of nodes: skipped nodes have none, loops make more. */
  readonly completions: number;
  /** Medians over the rounds, in milliseconds. */
  readonly compileMs: number;
  readonly planMs: number;
  /** Compilation and planning together; `coldMs` is the first round. */
  readonly totalMs: number;
  readonly coldMs: number;
  /** What topology and plan keep alive. */
  readonly heapBytes: number;
}

export interface PlannerOptions {
  /** Names the flow and the order of completions. */
  readonly seed?: number;
  /** Timed rounds, after as many that are not: those let the compiler of the runtime settle. */
  readonly rounds?: number;
}

interface Round {
  readonly completions: number;
  readonly compileMs: number;
  readonly planMs: number;
  readonly totalMs: number;
}

/** Plans one random flow of `nodes` nodes, `rounds` times. */
export function measurePlanner(
  nodes: number,
  { seed = 1, rounds = 7 }: PlannerOptions = {},
): PlannerFigures {
  const graph = randomFlow({ seed, nodes, listedInOrder: true });
  const coldMs = measureRound(graph, seed).totalMs;
  for (let round = 1; round < rounds; round += 1) measureRound(graph, seed);
  const results = Array.from({ length: rounds }, () => measureRound(graph, seed));
  // Apart from the timed rounds: collecting by hand throws compiled code away.
  const heapBytes = measureHeap(graph, seed);
  const median = (pick: (round: Round) => number): number => {
    const sorted = results.map(pick).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  return {
    nodes,
    edges: graph.edges.length,
    completions: median((round) => round.completions),
    compileMs: median((round) => round.compileMs),
    planMs: median((round) => round.planMs),
    totalMs: median((round) => round.totalMs),
    coldMs,
    heapBytes,
  };
}

function measureRound(graph: FlowGraph, seed: number): Round {
  const choose = choicesByIndex(graph, seed);
  const start = performance.now();
  const topology = compileTopology(graph);
  const compiled = performance.now();
  const cursor = new PlanCursor(topology);
  const completions = planAll(cursor, choose);
  const end = performance.now();
  if (cursor.outcome() === 'running') throw new Error('the flow did not end');
  return { completions, compileMs: compiled - start, planMs: end - compiled, totalMs: end - start };
}

function measureHeap(graph: FlowGraph, seed: number): number {
  const choose = choicesByIndex(graph, seed);
  const before = heapMb();
  const cursor = new PlanCursor(compileTopology(graph));
  planAll(cursor, choose);
  const bytes = (heapMb() - before) * 1024 * 1024;
  return cursor.count('running') > 0 ? 0 : Math.max(0, bytes);
}

type Choose = (node: number, runs: number) => readonly string[];

/** A random output of a node at each of its runs; made before the clock starts. */
function choicesByIndex(graph: FlowGraph, seed: number): Choose {
  const choices = graph.nodes.map((node) => branchesOf(node).map((branch) => [branch]));
  return (node, runs) => {
    const options = choices[node] ?? [];
    return options[((Math.imul(node + seed, 40_503) >>> 8) + runs) % options.length] ?? [];
  };
}

function planAll(cursor: PlanCursor, choose: Choose): number {
  const running: number[] = [];
  let completions = 0;
  let state = 12_345;
  for (;;) {
    for (const node of cursor.readyNodes().ready) {
      cursor.beginNode(node);
      running.push(node);
    }
    if (running.length === 0) return completions;
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    const at = state % running.length;
    const node = running[at] as number;
    running[at] = running.at(-1) as number;
    running.pop();
    if (cursor.topology.isLoop[node] === 1) cursor.completeLoop(node, cursor.iteration(node) <= 2);
    else cursor.completeNode(node, choose(node, cursor.runs(node)));
    completions += 1;
  }
}
