/** What Ctrl-C means: the first lets what runs finish, the second stops it, the third ends all. */
import type { GraphExecutor } from 'holdfast';
import { exitCodes } from '../exit-code.ts';
import type { Presenter } from '../render/presenter.ts';
import type { Terminal } from '../terminal.ts';

export class Interrupts {
  readonly #terminal: Terminal;
  readonly #presenter: Presenter;
  readonly #halt = new AbortController();
  readonly #asked = new AbortController();
  #executor: GraphExecutor | null = null;
  #count = 0;
  #stopListening: () => void;

  constructor(terminal: Terminal, presenter: Presenter) {
    this.#terminal = terminal;
    this.#presenter = presenter;
    this.#stopListening = terminal.onInterrupt(() => this.#interrupt());
  }

  /** Aborted by the second Ctrl-C. */
  get halt(): AbortSignal {
    return this.#halt.signal;
  }

  /** Aborted by the first: open questions are taken back. */
  get asked(): AbortSignal {
    return this.#asked.signal;
  }

  /** The executor that the first Ctrl-C shuts down. */
  drives(executor: GraphExecutor): void {
    this.#executor = executor;
    if (this.#asked.signal.aborted) void executor.shutdown();
  }

  stop(): void {
    this.#stopListening();
    this.#stopListening = () => {};
  }

  #interrupt(): void {
    this.#count += 1;
    if (this.#count === 1) {
      this.#presenter.note('Finishing what runs. Ctrl-C again stops it at once.');
      this.#asked.abort();
      void this.#executor?.shutdown();
    } else if (this.#count === 2) {
      this.#presenter.note('Stopping. What cannot be stopped in time is asked about next time.');
      this.#halt.abort();
    } else {
      this.#presenter.end();
      this.#terminal.exit(exitCodes.stopped);
    }
  }
}
