/** The cases of the graph-type kit that hold operations against the fixture's expectations. */
import { isHoldfastError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { GraphCommand } from '../graph/commands.ts';
import { compileGraph } from '../graph/compile.ts';
import type { AnyGraphDefinition } from '../graph/definition.ts';
import type { PlanBound } from '../graph/description.ts';
import { resolveGraphPlan } from '../graph/plan.ts';
import { watchAmbientReads } from './ambient-watch.ts';
import { fail } from './conformance-report.ts';
import {
  type AnyCompiled,
  type AnyFixture,
  freshInstance,
  replay,
  thawed,
} from './graph-type-fixture.ts';
import { jsonDifference } from './json-difference.ts';

/** Fails the case when `actual` is not `expected`. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const found = jsonDifference(actual, expected);
  if (found !== null) fail(`${what}: ${found}`);
}

/** Separate compiles describe the same graph and begin in the same, expected state. */
export function deterministicCompile(fixture: AnyFixture): void {
  const [first, second] = [freshInstance(fixture), freshInstance(fixture)];
  same(second.definition, first.definition, 'the definition of a second compile');
  same(second.describe(), first.describe(), 'the description of a second compile');
  for (const instance of [first, second, first]) {
    same(instance.initialState(), fixture.expected.states[0] ?? null, 'the initial state');
  }
}

/** Every event gives the expected state: on two instances, twice, in any order, after storage. */
export function deterministicReplay(fixture: AnyFixture): void {
  const { events } = fixture;
  const { states } = fixture.expected;
  requireLength(states.length, fixture, 'states');
  const [first, second] = [freshInstance(fixture), freshInstance(fixture)];
  replay(first, events).forEach((state, index) => {
    same(state, states[index] ?? null, `the state after ${index} events`);
  });
  // From the end: an instance that remembers what it folded before gives itself away.
  for (let index = events.length - 1; index >= 0; index -= 1) {
    for (const instance of [second, first, second]) {
      const state = instance.reduce(thawed(states[index] ?? null), thawed(events[index]));
      same(state, states[index + 1] ?? null, `the state after ${index + 1} events, reduced again`);
    }
  }
}

/** Every decision is the expected one: on two instances, twice, in any order, after storage. */
export function deterministicDecision(fixture: AnyFixture): void {
  const { commands, states } = fixture.expected;
  requireLength(commands.length, fixture, 'commands');
  const [first, second] = [freshInstance(fixture), freshInstance(fixture)];
  replay(first, fixture.events).forEach((state, index) => {
    for (const instance of [first, first, second]) {
      const decision = instance.decide(state);
      same(decision, commands[index] ?? null, `the decision after ${index} events`);
    }
  });
  for (let index = commands.length - 1; index >= 0; index -= 1) {
    const decision = second.decide(thawed(states[index] ?? null));
    same(decision, commands[index] ?? null, `the decision after ${index} events, asked again`);
  }
}

/** No position is requested twice, neither in the expected decisions nor in the real ones. */
export function newRequestsOnly(fixture: AnyFixture): void {
  requireNew(fixture.expected.commands, 'the expected decision');
  const instance = freshInstance(fixture);
  const decisions = replay(instance, fixture.events).map((state) => instance.decide(state));
  requireNew(decisions, 'the decision');
}

function requireNew(decisions: readonly (readonly GraphCommand[])[], what: string): void {
  const before = new Map<string, number>();
  decisions.forEach((decision, index) => {
    for (const command of decision) {
      if (command.kind !== 'dispatch') continue;
      const earlier = before.get(command.position);
      if (earlier !== undefined) {
        const position = JSON.stringify(command.position);
        fail(`${what} after ${index} events repeats ${position}, requested after ${earlier}`);
      }
      before.set(command.position, index);
    }
  });
}

/** The caller's values stay as they are, and graph code does not write to what it is given. */
export function inputImmutability(fixture: AnyFixture): void {
  const definition = thawed(fixture.definition);
  const events = thawed(fixture.events);
  const before = JSON.stringify([definition, events]);
  const instance = compileGraph(fixture.graphType, definition);
  instance.describe();
  let state = instance.initialState();
  for (const event of events) {
    instance.decide(state);
    const kept = JSON.stringify(state);
    const next = instance.reduce(state, event);
    if (JSON.stringify(state) !== kept) fail('reduce changed the state it was given');
    state = next;
  }
  instance.decide(state);
  if (JSON.stringify([definition, events]) !== before) {
    fail('the definition or the events were changed');
  }
}

/** Every invalid definition is refused by a `GraphValidationError`, each time alike. */
export function invalidDefinitions(fixture: AnyFixture): void {
  if (fixture.invalidDefinitions.length === 0) fail('the fixture has no invalid definitions');
  fixture.invalidDefinitions.forEach((definition, index) => {
    const [first, second] = [refusal(fixture, definition), refusal(fixture, definition)];
    if (first === null || second === null) fail(`the invalid definition ${index} was accepted`);
    same(second, first, `the refusal of the invalid definition ${index}, given again`);
  });
}

function refusal(fixture: AnyFixture, definition: unknown): unknown {
  try {
    compileGraph(fixture.graphType, definition as AnyGraphDefinition);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'GraphValidationError') throw error;
    // The graph type itself broke its contract: that is no refusal of the definition.
    if (!('issues' in error) || isHoldfastError(error, 'INVALID_GRAPH_TYPE')) throw error;
    return error.issues;
  }
  return null;
}

/** The same description and resolution give the same plan, byte for byte. */
export function deterministicPlanResolution(fixture: AnyFixture): void {
  const instances = [freshInstance(fixture), freshInstance(fixture)];
  const plans = [...instances, ...instances].map((instance) =>
    resolveGraphPlan(instance.describe(), thawed(fixture.planResolution)),
  );
  for (const plan of plans) {
    if (plan.canonicalJson !== plans[0]?.canonicalJson || plan.digest !== plans[0].digest) {
      fail('two resolutions of the same description give different plans');
    }
  }
}

/** The declared bounds are the expected ones, and the trace stays within them. */
export function declaredBounds(fixture: AnyFixture): void {
  const { bounds } = freshInstance(fixture).describe();
  same(bounds, fixture.expected.bounds, 'the declared bounds');
  const counts = fixture.expected.commands.map(
    (decision) => decision.filter(({ kind }) => kind === 'dispatch').length,
  );
  const total = counts.reduce((sum, count) => sum + count, 0);
  within(total, bounds.dispatches.max, 'dispatches in the trace', 'declared maximum');
  within(Math.max(0, ...counts), bounds.maxFanOut, 'dispatches in one decision', 'maxFanOut');
  const last = fixture.expected.commands.at(-1) ?? [];
  const { min } = bounds.dispatches;
  // Only a completed trace proves a minimum: others may have ended early.
  if (last.length !== 1 || last[0]?.kind !== 'complete' || min.kind !== 'known') return;
  if (total < min.value) {
    fail(`the completed trace has ${total} dispatches, below the declared minimum ${min.value}`);
  }
}

function within(count: number, bound: PlanBound, what: string, name: string): void {
  if (bound.kind === 'unknown' || count <= bound.value) return;
  fail(`${count} ${what}, above the ${name} ${bound.value}`);
}

/** No operation reads the clock or a source of chance. */
export function noClockOrChance(fixture: AnyFixture): void {
  const reads = watchAmbientReads(() => {
    const instance = freshInstance(fixture);
    for (const state of replay(instance, fixture.events)) askAll(instance, state);
  });
  if (reads.length > 0) fail(`graph code reads ${reads.join(', ')}`);
}

function askAll(instance: AnyCompiled, state: JsonValue): void {
  instance.decide(state);
  instance.compensate?.(state);
}

function requireLength(length: number, fixture: AnyFixture, what: string): void {
  const wanted = fixture.events.length + 1;
  if (length !== wanted) {
    fail(`${length} expected ${what} for ${fixture.events.length} events; give ${wanted}`);
  }
}
