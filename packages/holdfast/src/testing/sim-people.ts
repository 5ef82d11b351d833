/** Everyone outside: who answers, reconciles, sends signals, cancels, and repeats themselves. */
import type { GraphExecutor, Reconciliation } from '../executor/executor.ts';
import type { PauseView } from '../run/run-result.ts';
import type { SeededRandom } from './seeded-random.ts';
import { type SimHosts, STORE_FAULTS } from './sim-host.ts';
import { DEAD, type SimProcess } from './sim-process.ts';
import { ROOT_RUN_ID, type SimWorld } from './sim-world.ts';

/** An answer may come too late; an executor that has just stopped refuses what waits in it. */
const RACES: readonly string[] = [
  ...STORE_FAULTS,
  'PAUSE_MISMATCH',
  'RUN_NOT_FOUND',
  'OWNERSHIP_LOST',
  'RESULT_INVALID',
];

interface Reached {
  readonly process: SimProcess;
  readonly executor: GraphExecutor;
}

export class SimPeople {
  readonly #world: SimWorld;
  readonly #hosts: SimHosts;
  readonly #random: SeededRandom;
  readonly #used: string[] = [];
  /** When a signal was last sent for a pause. */
  readonly #helpedAt = new Map<string, number>();
  #desk: SimProcess | null = null;
  #deskExecutor: GraphExecutor | null = null;
  #helped = 0;

  constructor(world: SimWorld, hosts: SimHosts) {
    this.#world = world;
    this.#hosts = hosts;
    this.#random = world.random.fork('people');
  }

  /** Looks at the pauses now and then, and ends some of them. */
  async answer(): Promise<void> {
    while (!this.#world.isOver) {
      await this.#world.sleep(this.#random.pick([1, 50, 700, 3_000]));
      await this.#reach(async ({ executor }) => {
        for (const pause of await executor.pauses()) {
          if (this.#world.isOver) return;
          if (this.#random.chance(0.6)) await this.#end(executor, pause);
        }
      });
    }
  }

  /** Sends signals that nothing may be waiting for yet, some of them twice. */
  async send(): Promise<void> {
    const random = this.#world.random.fork('signals');
    const count = random.integer(0, 3);
    for (let number = 1; number <= count; number += 1) {
      await this.#world.sleep(random.pick([0, 1, 20, 900, 9_000]));
      const name = random.pick(['red', 'blue']);
      const times = random.integer(1, 2);
      for (let time = 0; time < times; time += 1) await this.#signal(name, `s${number}`);
    }
  }

  async cancel(): Promise<void> {
    const { cancelAtMs } = this.#world.options;
    if (cancelAtMs === null) return;
    await this.#world.sleep(cancelAtMs);
    let done = false;
    while (!done && !this.#world.isOver) {
      await this.#reach(async ({ executor }) => {
        await executor.cancel({ by: 'people', reason: 'The simulation says so.' });
        done = true;
        this.#acknowledged('cancel', this.#root?.isCancelled === true);
      });
      if (!done) await this.#world.sleep(100);
    }
  }

  async #signal(name: string, signalId: string): Promise<void> {
    let done = false;
    while (!done && !this.#world.isOver) {
      await this.#reach(async ({ executor }) => {
        await executor.signal(name, { signalId }, { signalId });
        done = true;
        const kept = this.#world.record.all().some((run) => run.hasSignal(signalId));
        this.#acknowledged(`signal ${signalId}`, kept);
      });
      if (!done) await this.#world.sleep(100);
    }
  }

  async #end(executor: GraphExecutor, pause: PauseView): Promise<void> {
    const random = this.#random;
    const { pauseId, request } = pause;
    if (random.chance(0.1)) await this.#mustFail(executor);
    switch (request.kind) {
      case 'reconcile-attempt':
        await this.#reconcile(executor, pause);
        return;
      case 'signal': {
        const now = this.#world.clock.now();
        if (now - (this.#helpedAt.get(pauseId) ?? 0) < 5_000) return;
        this.#helpedAt.set(pauseId, now);
        this.#helped += 1;
        const signalId = `help${this.#helped}`;
        await executor.signal(String(request['name']), { signalId }, { signalId });
        return;
      }
      case 'child':
        return;
      case 'policy':
        await this.#say(executor, pauseId, {
          decision: random.chance(0.8) ? 'allow' : 'deny',
        });
        return;
      default:
        await this.#say(executor, pauseId, { approved: random.chance(0.7) });
    }
  }

  async #say(
    executor: GraphExecutor,
    pauseId: string,
    answer: Readonly<Record<string, string | boolean>>,
  ): Promise<void> {
    this.#world.trace.add('people', `answer ${pauseId}`);
    await executor.answer(pauseId, answer, { by: 'people' });
    this.#used.push(pauseId);
    this.#acknowledged(`answer to ${pauseId}`, this.#wasAnswered(pauseId));
  }

  async #reconcile(executor: GraphExecutor, { pauseId, request }: PauseView): Promise<void> {
    const random = this.#random;
    const names = Array.isArray(request['steps']) ? request['steps'] : [];
    const step = names.length > 0 && random.chance(0.7) ? String(random.pick(names)) : null;
    const said: Reconciliation = {
      ...random.pick([
        { kind: 'retry' },
        { kind: 'completed', result: { by: 'people' } },
        { kind: 'failed', code: 'PEOPLE' },
      ] as const),
      ...(step === null ? {} : { step }),
      by: 'people',
      reason: 'The simulation knows.',
    };
    this.#world.trace.add('people', `reconcile ${pauseId} ${said.kind} ${step ?? ''}`);
    this.#world.trace.count(`reconcile ${said.kind}${step === null ? '' : ' step'}`);
    await executor.reconcile(pauseId, said);
    if (step === null) this.#used.push(pauseId);
    this.#acknowledged(`reconciliation of ${pauseId}`, this.#wasAnswered(pauseId));
  }

  /** An answer to a pause that is not open, or no longer, must be refused. */
  async #mustFail(executor: GraphExecutor): Promise<void> {
    const pauseId = this.#used.length > 0 ? this.#random.pick(this.#used) : `${ROOT_RUN_ID}@1`;
    try {
      await executor.answer(pauseId, { approved: true }, { by: 'people' });
    } catch (error) {
      // Whoever has not read of the answer yet may find another fault first.
      this.#world.explain(error, 'people', [...this.#races(), 'ANSWER_INVALID', 'PROTOCOL']);
      return;
    }
    this.#world.violate(`an answer to the used pause ${pauseId} was accepted`);
  }

  #wasAnswered(pauseId: string): boolean {
    return this.#world.record.all().some((run) => run.wasAnswered(pauseId));
  }

  /** What was acknowledged stands in the log, unless the run had ended before. */
  #acknowledged(what: string, stands: boolean): void {
    this.#world.trace.add('people', `${what} is acknowledged`);
    if (!stands && this.#root?.end == null) {
      this.#world.violate(`${what} was acknowledged and stands in no log`);
    }
  }

  get #root() {
    return this.#world.record.referee(ROOT_RUN_ID);
  }

  /** An owner whose checks of engines are refused refuses what it was told too. */
  #races(): readonly string[] {
    const { preflight } = this.#world.plan;
    return preflight === null ? RACES : [...RACES, 'PROTOCOL', 'RESUME_EVENT_MISMATCH'];
  }

  /** Does something through an executor that can be reached now; lost races are passed over. */
  async #reach(act: (reached: Reached) => Promise<void>): Promise<void> {
    const { process, executor } = (await this.#reached()) ?? {};
    if (process === undefined || executor === undefined) return;
    try {
      const end = await process.outlived(act({ process, executor }));
      if (end === DEAD) this.#world.trace.add('people', 'hear nothing more');
    } catch (error) {
      this.#world.explain(error, 'people', this.#races());
      if (this.#random.chance(0.3)) this.#deskExecutor = null;
    }
  }

  async #reached(): Promise<Reached | null> {
    if (this.#root === undefined) return null;
    const owner = this.#hosts.current();
    if (owner !== null && (!this.#world.options.desk || this.#random.chance(0.3))) return owner;
    return this.#world.options.desk || owner === null ? this.#deskReached() : null;
  }

  async #deskReached(): Promise<Reached | null> {
    if (this.#desk?.isAlive !== true) {
      this.#desk = this.#world.spawn('desk', true);
      this.#deskExecutor = null;
    }
    const process = this.#desk;
    try {
      const opened =
        this.#deskExecutor ??
        (await process.outlived(this.#world.executor(process, this.#world.storageOf(process))));
      if (opened === DEAD) return null;
      this.#deskExecutor = opened;
      return { process, executor: opened };
    } catch (error) {
      this.#world.explain(error, 'people', this.#races());
      return null;
    }
  }
}
