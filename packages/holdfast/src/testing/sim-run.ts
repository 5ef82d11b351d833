/** Runs one simulation from its options to its verdict. */
import { errorText } from '../base/errors.ts';
import { hostRun, SimHosts } from './sim-host.ts';
import { type SimulationOptions, simulationOptions } from './sim-options.ts';
import { SimPeople } from './sim-people.ts';
import type { SimProcess } from './sim-process.ts';
import { SimWatch } from './sim-watch.ts';
import { ROOT_RUN_ID, type SimulationSeams, SimWorld } from './sim-world.ts';

export interface SimulationReport {
  readonly options: SimulationOptions;
  /** What was found wrong; empty when nothing was. */
  readonly violations: readonly string[];
  /** All that happened, a line each. */
  readonly trace: readonly string[];
  /** How often what has happened. */
  readonly counts: ReadonlyMap<string, number>;
  /** Places at which a process might have died: what a sweep of crashes goes through. */
  readonly crashPlaces: number;
}

/** Longer than every delay, deadline and freeze of a plan together with its answer. */
const QUIET_LIMIT_MS = 20 * 60_000;
const MAX_STEPS = 200_000;
/** More callbacks than this at one moment are a loop that time never ends. */
const MAX_STEPS_AT_ONCE = 4_000;

/**
 * Runs a random graph in a world that a seed decides: crashes, failing and late stores, halts,
 * shutdowns, cancels, answers, signals, a second owner. All invariants of the record are checked
 * after every append, and the whole at the end.
 *
 * @example const { violations, trace } = await runSimulation(simulationOptions(7));
 */
export async function runSimulation(
  options: SimulationOptions,
  seams: SimulationSeams = {},
): Promise<SimulationReport> {
  const world = new SimWorld(options, seams);
  const rejected = (reason: unknown) => world.violate(`unhandled rejection: ${stackOf(reason)}`);
  process.on('unhandledRejection', rejected);
  try {
    await play(world);
    if (world.violations.length === 0) await verify(world);
  } finally {
    process.off('unhandledRejection', rejected);
  }
  return {
    options,
    violations: world.violations,
    trace: world.trace.lines(),
    counts: world.trace.counts,
    crashPlaces: world.faults.places,
  };
}

/** The simulation of a seed, with some of its options changed. */
export function simulateSeed(
  seed: number,
  changes: Partial<SimulationOptions> = {},
): Promise<SimulationReport> {
  return runSimulation({ ...simulationOptions(seed), ...changes });
}

async function play(world: SimWorld): Promise<void> {
  const hosts = new SimHosts(world);
  startActors(world, hosts);
  const watch = new SimWatch(world, hosts);
  let moment = { atMs: world.clock.now(), steps: 0 };
  for (let steps = 0; !world.isOver; steps += 1) {
    if (!(await step(world))) {
      world.violate('nothing will ever happen again, and the run has not ended');
    }
    const atMs = world.clock.now();
    moment = { atMs, steps: atMs === moment.atMs ? moment.steps + 1 : 0 };
    if (moment.steps > MAX_STEPS_AT_ONCE) world.violate('time stands still');
    if (steps > MAX_STEPS) world.violate(`the run has not ended after ${steps} steps`);
    watch.look();
    refuseQuiet(world);
  }
}

function startActors(world: SimWorld, hosts: SimHosts): void {
  const people = new SimPeople(world, hosts);
  const names = ['host', 'rival'].slice(0, world.options.owners);
  const actors = [
    ...names.map((name) => hostRun(world, hosts, name)),
    people.answer(),
    people.send(),
    people.cancel(),
  ];
  for (const actor of actors) {
    actor.catch((error: unknown) => world.violate(`an actor failed: ${stackOf(error)}`));
  }
}

/** Everything that a run waits for comes sooner: a longer silence means that nothing wakes it. */
function refuseQuiet(world: SimWorld): void {
  const quietMs = world.clock.now() - world.lastAppendMs;
  if (world.isOver || quietMs <= QUIET_LIMIT_MS) return;
  const what = left(world);
  world.violate(`the run has not ended, and nothing was appended for ${quietMs} ms: ${what}`);
}

/** False when nothing waits for its moment. What a timer throws would end a real process. */
async function step(world: SimWorld): Promise<boolean> {
  try {
    return await world.clock.step();
  } catch (error) {
    world.violate(`a timer threw: ${stackOf(error)}`);
    return true;
  }
}

/** The end: every fold agrees, and a new process is told the same, without writing anything. */
async function verify(world: SimWorld): Promise<void> {
  world.killAll();
  world.check(() => world.record.checkFolds());
  const before = world.record.events(ROOT_RUN_ID).length;
  let isVerified = false;
  verified(world, world.spawn('verifier')).finally(() => {
    isVerified = true;
  });
  for (let steps = 0; !isVerified; steps += 1) {
    await step(world);
    if (steps > MAX_STEPS_AT_ONCE) return world.violate('a new process is never told of the end');
  }
  world.check(() => world.record.observe());
  world.check(() => world.record.checkChildren());
  const after = world.record.events(ROOT_RUN_ID).length;
  if (after !== before) world.violate(`an ended run grew from ${before} to ${after} events`);
}

/** What a new process is told of an ended run, and that its pauses take no answers any more. */
async function verified(world: SimWorld, verifier: SimProcess): Promise<void> {
  try {
    const executor = await world.executor(verifier, world.soundStorage);
    world.concluded(await executor.run(), verifier.name);
    const root = world.record.referee(ROOT_RUN_ID);
    for (const { pause, nodeId } of root?.with('paused') ?? []) {
      if (pause === null || root?.planOf(nodeId)?.kind === 'child') continue;
      await refused(world, executor.answer(pause.pauseId, { approved: true }, { by: 'verifier' }));
    }
  } catch (error) {
    world.explain(error, verifier.name, []);
  }
}

async function refused(world: SimWorld, answer: Promise<void>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    world.explain(error, 'verifier', ['PAUSE_MISMATCH']);
    return;
  }
  world.violate('an ended run has taken an answer');
}

function left(world: SimWorld): string {
  return world.record
    .all()
    .flatMap((run) => [...run.positions.values()])
    .filter(({ status }) => status !== 'settled')
    .map(({ position, status, pause }) => `${position} ${status} ${pause?.kind ?? ''}`)
    .join('; ');
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : errorText(error);
}
