/**
 * A process that drives the run, dies, and comes back: what every host does, in its plainest form.
 * It goes on only by what it is told: the result of a drive, and the run index.
 */
import { isoTime, millisecondsOf } from '../base/time.ts';
import type { GraphExecutor } from '../executor/executor.ts';
import { interruptRunPreflight } from '../executor/run-preflight.ts';
import { startRelative } from '../executor/start-run.ts';
import type { RunPaused, RunResult, RunWaiting } from '../run/run-result.ts';
import type { LeaseGrant } from '../store/lease-store.ts';
import type { RunStorage } from '../store/storage.ts';
import type { SeededRandom } from './seeded-random.ts';
import { resolvedPlanOf } from './sim-plan.ts';
import { DEAD, type SimProcess } from './sim-process.ts';
import { ROOT_RUN_ID, type SimWorld } from './sim-world.ts';

/** What may go wrong whenever the store is asked. */
export const STORE_FAULTS: readonly string[] = ['STORE_IO'];

const LEASE_MS = 10_000;
const POLL_MS = 500;

/** What the hosts of one run know of each other, in place of a fleet. */
export class SimHosts {
  readonly #world: SimWorld;
  readonly #driving = new Map<SimProcess, GraphExecutor>();
  #halts: number;
  #shutdowns: number;
  #changes = 0;

  constructor(world: SimWorld) {
    this.#world = world;
    this.#halts = world.options.halts;
    this.#shutdowns = world.options.shutdowns;
  }

  /** The executor that drives the run now, with its process, if one does. */
  current(): { readonly process: SimProcess; readonly executor: GraphExecutor } | null {
    for (const [process, executor] of this.#driving) {
      if (process.isAlive) return { process, executor };
    }
    return null;
  }

  drives(process: SimProcess, executor: GraphExecutor): void {
    this.#changes += 1;
    this.#driving.set(process, executor);
  }

  /** How often a process has begun or stopped to drive. */
  get changes(): number {
    return this.#changes;
  }

  rests(process: SimProcess): void {
    this.#changes += 1;
    this.#driving.delete(process);
  }

  /** Without leases nobody may take over from a process that still drives. */
  mayTakeOver(process: SimProcess): boolean {
    if (this.#world.options.leases) return true;
    return [...this.#driving.keys()].every((other) => other === process || !other.isAlive);
  }

  takeHalt(random: SeededRandom): boolean {
    if (this.#halts === 0 || !random.chance(0.3)) return false;
    this.#halts -= 1;
    return true;
  }

  takeShutdown(random: SeededRandom): boolean {
    if (this.#shutdowns === 0 || !random.chance(0.3)) return false;
    this.#shutdowns -= 1;
    return true;
  }
}

/** Lives again and again until the run has ended. */
export async function hostRun(world: SimWorld, hosts: SimHosts, name: string): Promise<void> {
  const random = world.random.fork(name);
  const { rivalUntilMs } = world.extras;
  let isOver = false;
  let present: SimProcess | null = null;
  if (name === 'rival' && rivalUntilMs !== null) {
    // Two that check engines may keep each other from ending for ever: one gives up.
    world.clock.after(rivalUntilMs, () => {
      isOver = true;
      if (present !== null) world.kill(present, 'gives up');
    });
  }
  while (!world.isOver && !isOver) {
    const process = world.spawn(name);
    present = process;
    const life = new HostLife({ world, hosts, process, random });
    const end = await process.outlived(life.live());
    world.kill(process, 'leaves');
    hosts.rests(process);
    if (end === DEAD) await world.sleep(random.pick([0, 10, 3_000, 15_000]));
  }
}

interface HostParts {
  readonly world: SimWorld;
  readonly hosts: SimHosts;
  readonly process: SimProcess;
  readonly random: SeededRandom;
}

class HostLife {
  readonly #parts: HostParts;
  readonly #storage: RunStorage;
  readonly #who: string;
  #executor: GraphExecutor | null = null;
  #lease: LeaseGrant | null = null;
  #toResume: readonly string[] = [];
  /** The pause of an engine check to go on from. */
  #preflightEventId: string | null = null;
  /** Whether people may have settled what this host wants to resume. */
  #mayBeLate = false;

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#storage = parts.world.storageOf(parts.process);
    this.#who = parts.process.name;
  }

  async live(): Promise<void> {
    const { world, process, random } = this.#parts;
    while (!world.isOver) {
      try {
        if (await this.#drive()) return;
      } catch (error) {
        world.explain(error, this.#who, this.#expected());
        this.#toResume = [];
        this.#preflightEventId = null;
        this.#mayBeLate = false;
        await this.#closeProbe();
        // Some hosts go on with the executor that has failed, others open a new one.
        if (this.#lease !== null || random.chance(0.5)) this.#executor = null;
        this.#lease = null;
        await process.sleep(random.pick([0, 100, 2_000]));
      }
    }
  }

  /** True when the run has ended. */
  async #drive(): Promise<boolean> {
    const { world, hosts, process } = this.#parts;
    if (!(await this.#ready())) return false;
    const executor = await this.#opened();
    hosts.drives(process, executor);
    const halt = new AbortController();
    const stopped = this.#meddle(executor, halt);
    const beat = this.#heartbeat(halt);
    let result: RunResult;
    try {
      const { signal } = halt;
      const positions = this.#toResume;
      const preflightEventId = this.#preflightEventId;
      world.trace.add(this.#who, positions.length > 0 ? `resumes ${positions.join()}` : 'drives');
      if (preflightEventId !== null) result = await executor.resume({ preflightEventId }, signal);
      else if (positions.length > 0) result = await executor.resume(positions, signal);
      else result = await executor.run(signal);
    } finally {
      hosts.rests(process);
      stopped();
      beat();
    }
    this.#toResume = [];
    this.#preflightEventId = null;
    return this.#next(result);
  }

  async #next(result: RunResult): Promise<boolean> {
    const { world } = this.#parts;
    world.trace.count(`result ${result.kind}`);
    switch (result.kind) {
      case 'complete':
      case 'fail':
        world.concluded(result, this.#who);
        return true;
      case 'waiting':
        await this.#wait(result);
        return false;
      case 'pause':
        await this.#rest(result);
        return false;
    }
  }

  async #wait({ positions, wakeAt }: RunWaiting): Promise<void> {
    const { world, hosts, process, random } = this.#parts;
    world.trace.add(this.#who, `waits for ${positions.join()} until ${wakeAt ?? 'anything'}`);
    if (positions.length === 0) {
      await this.#untilDue();
    } else if (hosts.mayTakeOver(process)) {
      const some = positions.slice(0, random.integer(1, positions.length));
      this.#toResume = random.chance(0.7) ? positions : some;
    } else await process.sleep(POLL_MS);
  }

  /** A check that a dead process has left open is closed by whoever comes next. */
  async #closeProbe(): Promise<void> {
    const { world, hosts, process } = this.#parts;
    if (world.plan.preflight === null || !hosts.mayTakeOver(process)) return;
    const { clock } = process;
    const lease = this.#lease === null ? {} : { lease: this.#lease };
    try {
      if ((await this.#storage.runIndex.get(ROOT_RUN_ID)) === null) return;
      await interruptRunPreflight(this.#storage, ROOT_RUN_ID, { clock, ...lease });
    } catch (error) {
      world.explain(error, this.#who, this.#expected());
    }
  }

  async #rest({ pauses, preflightEventId }: RunPaused): Promise<void> {
    const { world, process, random } = this.#parts;
    if (preflightEventId !== undefined) {
      world.trace.count('preflight pause');
      await process.sleep(random.pick([0, 100, 5_000]));
      this.#preflightEventId = preflightEventId;
      return;
    }
    world.trace.add(this.#who, `rests: ${pauses.map(({ pauseId }) => pauseId).join()}`);
    const uncertain = pauses.find(
      ({ request, runId }) => request.kind === 'reconcile-attempt' && runId === ROOT_RUN_ID,
    );
    if (uncertain !== undefined && random.chance(0.2)) {
      this.#toResume = [uncertain.position];
      this.#mayBeLate = true;
    } else await this.#untilDue();
  }

  /** Sleeps until the index says that there is something to do. */
  async #untilDue(): Promise<void> {
    const { world, process } = this.#parts;
    if (this.#lease !== null) await this.#storage.leaseStore.release(this.#lease);
    this.#lease = null;
    while (!world.isOver) {
      const now = isoTime(process.clock.now());
      const row = await this.#storage.runIndex.get(ROOT_RUN_ID);
      const due = await this.#storage.runIndex.due(now);
      if (row?.status !== 'paused' && (row?.wakeAt ?? now) <= now) return;
      // A child that is due is driven by its parent, unless that has failed and left it behind.
      if (due.some(({ runId }) => world.record.isHeld(runId))) return;
      const soonestMs =
        row?.wakeAt == null ? POLL_MS : millisecondsOf(row.wakeAt) - Date.parse(now);
      await process.sleep(Math.max(1, Math.min(POLL_MS, soonestMs)));
    }
  }

  /** The run is stored, and this host holds its lease if leases are used. */
  async #ready(): Promise<boolean> {
    const { world, process } = this.#parts;
    if ((await this.#storage.runIndex.get(ROOT_RUN_ID)) === null) {
      await this.#start();
      return false;
    }
    if (!world.options.leases || this.#lease !== null) return true;
    const owner = {
      id: process.name,
      host: 'simulated',
      bootId: 'boot',
      pidNamespace: 'namespace',
      pid: 1,
      startTime: process.name,
    };
    const lease = await this.#storage.leaseStore.acquire(ROOT_RUN_ID, owner, LEASE_MS, {
      takeover: this.#parts.random.pick(['proven-dead', 'never'] as const),
    });
    if ('heldBy' in lease) {
      await process.sleep(POLL_MS);
      return false;
    }
    this.#lease = lease;
    this.#executor = null;
    return true;
  }

  async #start(): Promise<void> {
    const { world, process } = this.#parts;
    const { graph } = world.plan;
    try {
      const input = { seed: world.options.seed };
      const resolvedPlan = resolvedPlanOf(world.plan);
      const run = { runId: ROOT_RUN_ID, graph, input, resolvedPlan, clock: process.clock };
      await startRelative(this.#storage, run);
    } catch (error) {
      // Somebody, or this very host by a write that seemed to fail, has started it.
      world.explain(error, this.#who, ['SEQUENCE_CONFLICT', ...this.#full(), ...STORE_FAULTS]);
    }
  }

  async #opened(): Promise<GraphExecutor> {
    const { world, process } = this.#parts;
    this.#executor ??= await world.executor(process, this.#storage, this.#lease);
    return this.#executor;
  }

  /** Halts or shuts down some drives after a while; returns the way to let it be. */
  #meddle(executor: GraphExecutor, halt: AbortController): () => void {
    const { world, hosts, process, random } = this.#parts;
    const isHalt = hosts.takeHalt(random);
    if (!isHalt && !hosts.takeShutdown(random)) return () => undefined;
    const timer = process.clock.after(random.pick([0, 5, 200, 4_000]), () => {
      world.trace.add(this.#who, isHalt ? 'halts' : 'shuts down');
      world.trace.count(isHalt ? 'halt' : 'shutdown');
      if (isHalt) halt.abort();
      else void executor.shutdown();
    });
    return () => timer.cancel();
  }

  /** Renews the lease while the run is driven; a lost one halts it. */
  #heartbeat(halt: AbortController): () => void {
    const { process } = this.#parts;
    let beating = this.#lease !== null;
    const beat = async () => {
      if (!beating || this.#lease === null) return;
      try {
        this.#lease = await this.#storage.leaseStore.renew(this.#lease, LEASE_MS);
      } catch (error) {
        this.#parts.world.explain(error, this.#who, ['LEASE_LOST', ...STORE_FAULTS]);
        halt.abort();
        return;
      }
      process.clock.after(LEASE_MS / 3, () => void beat());
    };
    process.clock.after(LEASE_MS / 3, () => void beat());
    return () => {
      beating = false;
    };
  }

  /** A store that has no room yet may refuse what cannot be left out. */
  #full(): readonly string[] {
    return this.#parts.world.extras.quota === null ? [] : ['STORAGE_LIMIT_EXCEEDED'];
  }

  #expected(): readonly string[] {
    const { owners, leases, freezes } = this.#parts.world.options;
    const checked = this.#parts.world.plan.preflight === null ? [] : ['PROTOCOL'];
    const shared = owners > 1 ? ['OWNERSHIP_LOST', 'PROTOCOL', 'RESUME_EVENT_MISMATCH'] : [];
    const late = this.#mayBeLate ? ['PROTOCOL'] : [];
    const fenced =
      leases || freezes > 0
        ? ['OWNERSHIP_LOST', 'LEASE_LOST', 'STALE_FENCE', 'RESUME_EVENT_MISMATCH']
        : [];
    return ['ABORTED', ...STORE_FAULTS, ...this.#full(), ...checked, ...shared, ...late, ...fenced];
  }
}
