/** A run as a tree of lines: one a node, with its state, its words and its duration. */
import type { Colours } from '../colours.ts';
import { durationText } from './duration.ts';
import type { LayoutRow } from './flow-layout.ts';
import { occurrenceText, stateIcon } from './node-text.ts';
import { displayWidth, fitWidth, padWidth, printable } from './printable.ts';
import type { RunProgress } from './run-progress.ts';

export interface TreeOptions {
  readonly colours: Colours;
  readonly columns: number;
  readonly now: number;
  readonly isOver: boolean;
  /** Turns the spinner. */
  readonly frame?: number;
  /** Nodes that were shown before, and are left out now. */
  readonly hidden?: ReadonlySet<string>;
}

const MAX_NAME_COLUMNS = 40;
const MIN_DETAIL_COLUMNS = 8;
const MAX_DETAIL_COLUMNS = 60;

/** The lines of a run, none wider than `columns`. */
export function treeLines(progress: RunProgress, options: TreeOptions): readonly string[] {
  const names = progress.rows.map(nameOf);
  const nameColumns = Math.min(
    MAX_NAME_COLUMNS,
    Math.max(8, ...names.map(displayWidth)),
    Math.max(1, options.columns - 2),
  );
  return progress.rows.flatMap((row, index) => {
    if (options.hidden?.has(row.nodeId) === true) return [];
    return [line(progress, row, { ...options, name: names[index] ?? '', nameColumns })];
  });
}

interface RowOptions extends TreeOptions {
  readonly name: string;
  readonly nameColumns: number;
}

function nameOf({ guide, nodeId, label }: LayoutRow): string {
  return `${guide}${label === null ? '' : `${printable(label)}: `}${printable(nodeId)}`;
}

function line(progress: RunProgress, row: LayoutRow, options: RowOptions): string {
  const { colours, columns, name, nameColumns } = options;
  const state = progress.state(row.nodeId, options.isOver);
  const icon = stateIcon(state, colours, options.frame);
  const node = progress.node(row.nodeId);
  const dimmed = state === 'pending' || state === 'skipped' ? colours.dim : (text: string) => text;
  const shown = dimmed(padWidth(name, nameColumns));
  if (node === null) return `${icon} ${shown.trimEnd()}`;
  const time = timeText(node.occurrence, options.now);
  const runs = node.runs > 1 ? `×${node.runs}  ` : '';
  const detail = runs + (node.log === null ? occurrenceText(node.occurrence) : printable(node.log));
  const room = columns - 2 - nameColumns - 2 - (displayWidth(time) + 2);
  const left = Math.min(room, MAX_DETAIL_COLUMNS);
  if (left < MIN_DETAIL_COLUMNS) return `${icon} ${shown}${fits(time, columns - nameColumns - 2)}`;
  const words = colourOf(state, colours)(padWidth(detail, left));
  return `${icon} ${shown}  ${words}  ${colours.dim(time)}`;
}

function fits(time: string, columns: number): string {
  return displayWidth(time) + 1 <= columns ? ` ${time}` : fitWidth('', columns);
}

function colourOf(state: string, colours: Colours): (text: string) => string {
  if (state === 'failed') return colours.red;
  return state === 'paused' || state === 'abandoned' ? colours.yellow : colours.dim;
}

function timeText(
  occurrence: {
    readonly durationMs: number | null;
    readonly startedAt: string | null;
    readonly endedAt: string | null;
  },
  now: number,
): string {
  if (occurrence.durationMs !== null) return durationText(occurrence.durationMs);
  if (occurrence.startedAt === null || occurrence.endedAt !== null) return '';
  return durationText(now - Date.parse(occurrence.startedAt));
}
