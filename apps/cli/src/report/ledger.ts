/**
 * The ledger of published reports: one line each. Appending to it stands for an act in the world
 * that must not happen twice, such as an upload or an announcement.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

export type LedgerLine = {
  readonly runId: string;
  /** The position of the attempt that wrote it. */
  readonly position: string;
  /** The attempt's idempotency key. */
  readonly key: string;
  readonly commit: string | null;
  readonly report: string;
};

function ledgerFile(directory: string): string {
  return path.join(directory, 'reports', 'ledger.jsonl');
}

/** Appends one line and makes it durable. */
export function appendLine(directory: string, line: LedgerLine): void {
  const file = ledgerFile(directory);
  mkdirSync(path.dirname(file), { recursive: true });
  const handle = openSync(file, 'a+');
  try {
    // A line that a crash has cut off must not swallow this one.
    writeSync(handle, `${endsInLine(handle) ? '' : '\n'}${JSON.stringify(line)}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function endsInLine(handle: number): boolean {
  const { size } = fstatSync(handle);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(handle, last, 0, 1, size - 1);
  return last.toString() === '\n';
}

/** The line of this occurrence, if it was written. A line cut off by a crash does not count. */
export function findLine(
  directory: string,
  wanted: Pick<LedgerLine, 'runId' | 'position'>,
): LedgerLine | null {
  return (
    readLedger(directory).find(
      (line) => line.runId === wanted.runId && line.position === wanted.position,
    ) ?? null
  );
}

export function readLedger(directory: string): readonly LedgerLine[] {
  let text: string;
  try {
    text = readFileSync(ledgerFile(directory), 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as LedgerLine];
    } catch {
      return [];
    }
  });
}
