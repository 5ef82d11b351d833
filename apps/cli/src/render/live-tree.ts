/** The live tree of a run: redrawn when something changes, and ten times a second while it runs. */
import type { EventEnvelope, FlowFile, LogLine } from 'holdfast';
import type { OccurrenceView, RunView } from 'holdfast/views';
import type { Terminal } from '../terminal.ts';
import { durationText } from './duration.ts';
import { LiveScreen } from './live-screen.ts';
import type { Presenter } from './presenter.ts';
import { displayWidth, fitWidth, printable } from './printable.ts';
import { RunProgress } from './run-progress.ts';
import { treeLines } from './tree.ts';

const FRAME_MS = 100;
/** The title, the hint, and the line of the cursor. */
const FIXED_ROWS = 3;

export class LiveTree implements Presenter {
  readonly #terminal: Terminal;
  readonly #flow: FlowFile | null;
  readonly #screen: LiveScreen;
  #progress: RunProgress;
  #view: RunView | null = null;
  #beganAt = 0;
  #hint = 'Ctrl-C lets what runs finish, then stops; the same command goes on.';
  #isOver = false;
  #frame = 0;
  readonly #hidden = new Set<string>();
  #timer: ReturnType<typeof setInterval> | null = null;
  #stopResize: () => void = () => {};

  constructor(terminal: Terminal, flow: FlowFile | null) {
    this.#terminal = terminal;
    this.#flow = flow;
    this.#screen = new LiveScreen(terminal);
    this.#progress = new RunProgress(flow);
  }

  begin(view: RunView): void {
    if (this.#view !== null) this.end();
    this.#view = view;
    this.#isOver = false;
    this.#hidden.clear();
    this.#progress = RunProgress.of(this.#flow, view);
    this.#beganAt = this.#terminal.now();
    this.resume();
  }

  event(envelope: EventEnvelope, occurrence: OccurrenceView | null): void {
    if (occurrence !== null) {
      this.#progress.apply(occurrence);
      this.#hidden.delete(occurrence.nodeId);
    }
    if (envelope.type === 'graph:run-finished') this.#isOver = true;
  }

  log({ nodeId, message }: LogLine): void {
    this.#progress.log(nodeId, message);
  }

  note(text: string): void {
    this.#hint = text;
  }

  around(write: () => void): void {
    if (this.#timer === null) return write();
    this.#screen.clear();
    write();
    this.#draw();
  }

  /** What is shown above a question is not shown again below it. */
  suspend(): void {
    this.#stop();
    this.#draw(null);
    this.#screen.leave();
    for (const { nodeId } of this.#progress.rows) {
      const ended = this.#progress.node(nodeId)?.occurrence.endedAt ?? null;
      if (ended !== null) this.#hidden.add(nodeId);
    }
  }

  resume(): void {
    if (this.#timer !== null || this.#view === null) return;
    this.#stopResize = this.#terminal.onResize(() => this.#draw());
    this.#timer = setInterval(() => {
      this.#frame += 1;
      this.#draw();
    }, FRAME_MS);
    this.#timer.unref();
    this.#draw();
  }

  /** The last frame shows every node, however tall the screen is. */
  end(): void {
    if (this.#view === null) return;
    this.#stop();
    const lines = [this.#title(), ...this.#tree()];
    if (lines.length < this.#terminal.size().rows) this.#show(lines);
    else {
      this.#screen.clear();
      this.#terminal.out(lines.map((line) => `${line}\n`).join(''));
    }
    this.#screen.leave();
    this.#view = null;
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#stopResize();
  }

  #draw(hint: string | null = this.#hint): void {
    const { columns, rows } = this.#terminal.size();
    const { colours } = this.#terminal;
    const last = hint === null ? [] : [colours.dim(fitWidth(hint, columns - 1))];
    const tree = this.#window(this.#tree(), Math.max(1, rows - FIXED_ROWS));
    this.#show([this.#title(), ...tree, ...last]);
  }

  #show(lines: readonly string[]): void {
    const widths = lines.map((line) => displayWidth(withoutColours(line)));
    this.#screen.draw(lines, widths);
  }

  #title(): string {
    const { colours } = this.#terminal;
    const { ended, all } = this.#progress.counts();
    const passed = durationText(this.#terminal.now() - this.#beganAt);
    const name = printable(this.#view?.graphId ?? 'run');
    const rest = `  ${printable(this.#view?.runId ?? '')}  ${ended}/${all}  ${passed}`;
    const { columns } = this.#terminal.size();
    const title = fitWidth(name, columns - 1);
    const shown = fitWidth(rest, columns - 1 - displayWidth(title));
    return `${colours.bold(title)}${colours.dim(shown)}`;
  }

  #tree(): readonly string[] {
    const { columns } = this.#terminal.size();
    return treeLines(this.#progress, {
      colours: this.#terminal.colours,
      columns: columns - 1,
      now: this.#terminal.now(),
      isOver: this.#isOver,
      frame: this.#frame,
      hidden: this.#hidden,
    });
  }

  /** The part of a tall tree in which something happens. */
  #window(lines: readonly string[], height: number): readonly string[] {
    if (lines.length <= height) return lines;
    const shown = this.#progress.rows.filter(({ nodeId }) => !this.#hidden.has(nodeId));
    const open = shown.findIndex(({ nodeId }) => {
      const node = this.#progress.node(nodeId);
      return node !== null && node.occurrence.endedAt === null;
    });
    const wanted = Math.max(0, (open < 0 ? this.#progress.counts().ended : open) - 1);
    const start = Math.min(wanted, lines.length - height);
    return lines.slice(start, start + height);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are escape sequences
const COLOUR = /\u001B\[\d+(?:;\d+)*m/g;

function withoutColours(line: string): string {
  return line.replace(COLOUR, '');
}
