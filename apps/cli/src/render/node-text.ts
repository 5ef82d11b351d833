/** What is said of one node: an icon for its state, and a few words about it. */
import type { OccurrenceStatus, OccurrenceView } from 'holdfast/views';
import type { Colours } from '../colours.ts';
import { printable } from './printable.ts';

/** `pending`: not dispatched yet · `skipped`: not dispatched, and the run is over. */
export type NodeState = OccurrenceStatus | 'pending' | 'skipped';

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;

/** One column, coloured. `frame` turns the spinner of what runs. */
export function stateIcon(state: NodeState, colours: Colours, frame = 0): string {
  switch (state) {
    case 'pending':
      return colours.dim('·');
    case 'skipped':
      return colours.dim('○');
    case 'queued':
      return colours.cyan('◷');
    case 'running':
      return colours.cyan(SPINNER[frame % SPINNER.length] ?? '▸');
    case 'paused':
      return colours.yellow('‖');
    case 'completed':
      return colours.green('✔');
    case 'failed':
      return colours.red('✖');
    case 'abandoned':
      return colours.yellow('!');
  }
}

/** A few words about an occurrence: its branch, its summary, its failure, what it waits for. */
export function occurrenceText(occurrence: OccurrenceView): string {
  const { status, pause, code, message, notBefore, steps } = occurrence;
  if (pause !== null) return pauseText(pause.request);
  if (status === 'completed') return undoneText(occurrence) + resultText(occurrence.result);
  if (code !== null) return printable(`${code}: ${message ?? ''}`);
  if (status === 'queued') return notBefore === null ? '' : `due at ${notBefore.slice(11, 19)}`;
  const done = steps.filter((step) => step.status !== 'started').length;
  return done === 0 ? '' : `${done} step${done === 1 ? '' : 's'} done`;
}

/** A cancelled run takes its tasks back at positions of their own. */
function undoneText({ position }: OccurrenceView): string {
  return position.startsWith('undo/') ? 'undone  ' : '';
}

/** What a pause waits for. */
export function pauseText(request: {
  readonly kind: string;
  readonly [key: string]: unknown;
}): string {
  const due =
    typeof request['dueAt'] === 'string' ? `, until ${request['dueAt'].slice(0, 19)}Z` : '';
  switch (request.kind) {
    case 'approval':
      return `waits for a person${due}`;
    case 'reconcile-attempt':
      return 'uncertain: the process died in it';
    case 'signal':
      return printable(`waits for the signal ${String(request['name'])}${due}`);
    case 'policy':
      return 'waits for a permission';
    case 'child':
      return printable(`waits for run ${String(request['runId'])}${due}`);
    default:
      return printable(`waits (${request.kind})${due}`);
  }
}

/** A node of a flow returns `{ output, branch }`; an output may sum itself up in `summary`. */
function resultText(result: unknown): string {
  if (typeof result !== 'object' || result === null) return '';
  const { output, branch } = result as { output?: unknown; branch?: unknown };
  const words = summaryOf(output);
  if (typeof branch !== 'string' || branch === 'out') return words;
  return words === '' || words === branch
    ? `→ ${printable(branch)}`
    : `→ ${printable(branch)}  ${words}`;
}

function summaryOf(output: unknown): string {
  if (typeof output === 'string') return printable(output);
  if (typeof output !== 'object' || output === null) return '';
  const { summary } = output as { summary?: unknown };
  return typeof summary === 'string' ? printable(summary) : '';
}
