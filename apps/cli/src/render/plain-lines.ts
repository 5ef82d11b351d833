/** A run as plain lines, one a change: time, what, how, which node, position, words. */
import type { EventEnvelope, JsonValue, LogLine } from 'holdfast';
import type { OccurrenceView, RunView } from 'holdfast/views';
import type { Terminal } from '../terminal.ts';
import { durationText } from './duration.ts';
import { occurrenceText } from './node-text.ts';
import type { Presenter } from './presenter.ts';
import { fitWidth, printable } from './printable.ts';

const WORDS_COLUMNS = 200;

const nodeWords: Readonly<Record<string, string>> = {
  'graph:node-attempt-started': 'started',
  'graph:node-completed': 'completed',
  'graph:node-failed': 'failed',
  'graph:node-paused': 'paused',
  'graph:node-resumed': 'resumed',
  'graph:node-step-recorded': 'step',
};

const runWords: Readonly<Record<string, string>> = {
  'graph:run-started': 'stored',
  'graph:pause-answered': 'answered',
  'graph:attempt-reconciled': 'reconciled',
  'graph:signal-received': 'signal',
  'graph:timer-fired': 'deadline',
  'graph:cancel-requested': 'cancel',
  'graph:run-finished': 'finished',
};

export class PlainLines implements Presenter {
  readonly #terminal: Pick<Terminal, 'out' | 'now'>;
  #runId = '';

  constructor(terminal: Pick<Terminal, 'out' | 'now'>) {
    this.#terminal = terminal;
  }

  begin(view: RunView): void {
    this.#runId = view.runId;
    const word = view.occurrences.length === 0 ? 'started' : 'continued';
    this.#write(this.#now(), ['run', word, view.runId, view.graphId ?? '']);
  }

  event(envelope: EventEnvelope, occurrence: OccurrenceView | null): void {
    const line = eventWords(envelope, occurrence);
    if (line !== null) this.#write(envelope.timestamp, line);
  }

  log({ nodeId, position, message }: LogLine): void {
    this.#write(this.#now(), ['node', 'log', nodeId, position, message]);
  }

  note(text: string): void {
    this.#write(this.#now(), ['run', 'note', this.#runId, text]);
  }

  around(write: () => void): void {
    write();
  }

  suspend(): void {}

  resume(): void {}

  end(): void {}

  #now(): string {
    return new Date(this.#terminal.now()).toISOString();
  }

  #write(timestamp: string, [what = '', how = '', name = '', ...rest]: readonly string[]): void {
    const words = rest.map((part) => fitWidth(printable(part), WORDS_COLUMNS)).filter(Boolean);
    const line = [
      timestamp.slice(11, 23),
      what.padEnd(4),
      how.padEnd(10),
      printable(name),
      ...words,
    ];
    this.#terminal.out(`${line.join('  ').trimEnd()}\n`);
  }
}

/** The parts of an event's line, or null for one that changes nothing a person looks for. */
function eventWords(
  envelope: EventEnvelope,
  occurrence: OccurrenceView | null,
): readonly string[] | null {
  const { type, payload } = envelope;
  const word = nodeWords[type];
  if (word !== undefined && occurrence !== null) {
    const { nodeId, position, durationMs } = occurrence;
    const took = durationMs === null ? '' : durationText(durationMs);
    const words = word === 'step' ? stepText(payload) : occurrenceText(occurrence);
    return ['node', word, nodeId, position, took, words];
  }
  if (type === 'graph:node-dispatched' && occurrence?.notBefore) {
    const { nodeId, position, notBefore } = occurrence;
    return ['node', 'delayed', nodeId, position, `until ${notBefore}`];
  }
  const run = runWords[type];
  return run === undefined ? null : ['run', run, envelope.stream.streamId, runText(type, payload)];
}

function stepText(payload: JsonValue): string {
  const { step, code } = payload as { readonly step?: string; readonly code?: string };
  return code === undefined ? String(step) : `${step} failed with ${code}`;
}

function runText(type: string, payload: JsonValue): string {
  const part = payload as Readonly<Record<string, JsonValue>>;
  switch (type) {
    case 'graph:run-finished':
      return [part['outcome'], part['code'], part['message']].filter(Boolean).join('  ');
    case 'graph:signal-received':
      return String(part['name']);
    case 'graph:cancel-requested':
      return `by ${part['by']}: ${part['reason']}`;
    case 'graph:attempt-reconciled':
      return `${part['position']}  ${part['kind']} by ${part['by']}: ${part['reason']}`;
    case 'graph:pause-answered':
      return `${part['position']}  by ${part['by']}: ${JSON.stringify(part['answer'])}`;
    case 'graph:timer-fired':
      return String(part['position']);
    default:
      return '';
  }
}
