/**
 * One run driven by a command: shown while it goes on, asked about when it pauses, stopped by
 * Ctrl-C. What is in flight from a dead process is resumed by the crash table.
 */
import type { BoundRun, DrivenRun, GraphExecutor, PauseView, RunPaused } from 'holdfast';
import { driveRun } from 'holdfast';
import type { Presenter } from '../render/presenter.ts';
import type { Terminal } from '../terminal.ts';
import { Advice } from './advice.ts';
import { Interrupts } from './interrupts.ts';
import type { Store } from './open-store.ts';
import { watchRun } from './run-watch.ts';

/** Who answers pauses. */
export interface PauseAnswerer {
  /** A person is asked, and needs room on the terminal. */
  readonly asksPerson: boolean;
  /** Answers a pause, or resolves with false to leave it. */
  answer(pause: PauseView, executor: GraphExecutor, signal: AbortSignal): Promise<boolean>;
}

export interface SessionOptions {
  readonly store: Store;
  readonly runId: string;
  readonly bound: BoundRun;
  readonly terminal: Terminal;
  readonly presenter: Presenter;
  /** Without it a pause ends the session. */
  readonly answerer: PauseAnswerer | null;
}

/** Throws what `driveRun` throws; the presenter is ended in any case. */
export async function driveSession(options: SessionOptions): Promise<DrivenRun> {
  const { store, runId, bound, terminal, presenter } = options;
  const interrupts = new Interrupts(terminal, presenter);
  let stopWatching = () => {};
  terminal.drives(new Advice(terminal, store.directory).resume(runId));
  const stopRoom = terminal.makeRoomBy((write) => presenter.around(write));
  try {
    return await driveRun(store.storage, bound, {
      runId,
      signal: interrupts.halt,
      onLog: (line) => presenter.log(line),
      onDriving: async (executor) => {
        stopWatching();
        interrupts.drives(executor);
        stopWatching = await watchRun(store.storage, executor.runId, presenter);
      },
      onPaused: (paused, executor) => answerAll(paused, executor, options, interrupts),
    });
  } finally {
    stopWatching();
    interrupts.stop();
    presenter.end();
    stopRoom();
    terminal.drives(null);
  }
}

/** Asks about one pause after the other; true when something was answered, or is due. */
async function answerAll(
  paused: RunPaused,
  executor: GraphExecutor,
  { answerer, presenter, store, terminal }: SessionOptions,
  interrupts: Interrupts,
): Promise<boolean> {
  if (answerer === null || interrupts.asked.aborted) return false;
  let goesOn = false;
  if (answerer.asksPerson) presenter.suspend();
  for (const pause of paused.pauses) {
    if (interrupts.asked.aborted) break;
    const takenBack = takeBack(pause, { store, now: terminal.now() }, interrupts.asked);
    const answered = await answerer.answer(pause, executor, takenBack.signal);
    takenBack.stop();
    goesOn = answered || takenBack.isPast() || goesOn;
  }
  if (answerer.asksPerson) presenter.resume();
  return goesOn;
}

/** Takes a question back when its pause is ended elsewhere, or by its deadline. */
function takeBack(
  pause: PauseView,
  { store, now }: { readonly store: Store; readonly now: number },
  asked: AbortSignal,
) {
  const past = new AbortController();
  const { storage } = store;
  const stream = { namespace: storage.record.namespace, streamId: pause.runId };
  const seen = Number(pause.pauseId.slice(pause.pauseId.lastIndexOf('@') + 1));
  const stop = storage.eventStore.subscribe(stream, seen, (events) => {
    const ends = events.some(({ type, payload }) => {
      const { position } = payload as { readonly position?: string };
      return /:(?:node-(?:completed|failed|resumed)|run-finished)$/.test(type)
        ? position === undefined || position === pause.position
        : false;
    });
    if (ends) past.abort();
  });
  const due = pause.dueAt === undefined ? null : Date.parse(pause.dueAt) - now;
  const timer = due === null || due > 2 ** 31 - 1 ? null : setTimeout(() => past.abort(), due);
  return {
    signal: AbortSignal.any([past.signal, asked]),
    isPast: () => past.signal.aborted,
    stop: () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
