/** The open child runs of a run, for those who answer, reconcile and send from outside. */
import type { ChildRun } from '../attempt/binding.ts';
import { isHoldfastError } from '../base/errors.ts';
import type { PositionRecord } from '../run/position-record.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { PauseView } from '../run/run-result.ts';
import type { AttemptFactory } from './attempt-factory.ts';
import type { ChildRuns } from './child-runs.ts';
import type { ChildExecutor } from './executor.ts';
import { openPauses } from './run-pauses.ts';

/** A child run and the position of its parent that it stands for. */
export interface OpenChild {
  readonly position: string;
  readonly executor: ChildExecutor;
}

export interface OpenChildrenParts {
  readonly runId: string;
  readonly attempts: AttemptFactory;
  readonly children: ChildRuns;
  /** What a function finds in the run as the log has it. */
  readonly look: <Seen>(select: (fold: RunFold) => Seen) => Promise<Seen>;
}

export class OpenChildren {
  readonly #parts: OpenChildrenParts;

  constructor(parts: OpenChildrenParts) {
    this.#parts = parts;
  }

  /** The child run that owns this run id (itself or a descendant of it), if one is open. */
  async owning(runId: string): Promise<OpenChild | null> {
    if (!runId.startsWith(`${this.#parts.runId}.`)) return null;
    for (const child of await this.#all()) {
      const { runId: childId } = child.executor;
      if (runId === childId || runId.startsWith(`${childId}.`)) return child;
    }
    return null;
  }

  /**
   * The open child run in which something waits for this signal, if the run itself does not. A
   * sender needs no code: children whose flow was not given here are not looked into.
   */
  async waitingFor(name: string): Promise<OpenChild | null> {
    const { attempts, look } = this.#parts;
    const waits = (pause: PauseView) =>
      pause.request.kind === 'signal' && pause.request['name'] === name;
    const waitsHere = (fold: RunFold) =>
      openPauses(fold).some((pause) => pause.runId === fold.runId && waits(pause));
    if (!attempts.hasChildren || (await look(waitsHere))) return null;
    for (const child of await this.#all(boundOnly(attempts))) {
      if ((await child.executor.pauses()).some(waits)) return child;
    }
    return null;
  }

  async #all(childOf?: ChildFinder): Promise<readonly OpenChild[]> {
    const { attempts, children, look } = this.#parts;
    const find: ChildFinder = childOf ?? ((record) => attempts.childOf(record));
    const open: OpenChild[] = [];
    if (!attempts.hasChildren) return open;
    for (const record of await look((fold) => fold.positions.all())) {
      const child = record.status === 'queued' ? null : find(record);
      if (child === null) continue;
      const executor = await children.openStored(record.position, child);
      if (executor !== null) open.push({ position: record.position, executor });
    }
    return open;
  }
}

type ChildFinder = (record: PositionRecord) => ChildRun | null;

function boundOnly(attempts: AttemptFactory): ChildFinder {
  return (record) => {
    try {
      return attempts.childOf(record);
    } catch (error) {
      if (isHoldfastError(error, 'FLOW_UNKNOWN')) return null;
      throw error;
    }
  };
}
