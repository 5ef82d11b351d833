/**
 * Where the code of a stored run is: a small file beside the store, since the store itself names
 * no folder of this machine. Paths are relative to the store's folder, so both may move together.
 *
 * It is written before the run is stored: one without a run is harmless, a run without one asks
 * for --module.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { HoldfastError } from 'holdfast';
import { unreadable } from './read-json.ts';

export type RunSource =
  | { readonly builtIn: 'report' }
  | { readonly flow: string; readonly module: string | null };

/** Remembers where a run's code is. Throws `FILE_UNREADABLE`, `STORE_FULL`. */
export function writeRunSource(directory: string, runId: string, source: RunSource): void {
  const file = sourceFile(directory, runId);
  const kept =
    'builtIn' in source
      ? source
      : {
          flow: path.relative(directory, source.flow),
          module: source.module === null ? null : path.relative(directory, source.module),
        };
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    replaceFile(file, `${JSON.stringify(kept)}\n`);
  } catch (error) {
    if (isFull(error)) {
      throw new HoldfastError('STORE_FULL', `${file}: no space is left.`, { file }, error);
    }
    throw unreadable(file, 'The place of the code cannot be kept in', error);
  }
}

/** The file is the old one or the new one; a draft that cannot be finished is taken away. */
function replaceFile(file: string, text: string): void {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function isFull(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^(?:ENOSPC|EDQUOT)$/.test(String(error.code))
  );
}

/** Where the code of this run, or of the run it continues, is; null when that is not known. */
export function readRunSource(directory: string, runId: string): RunSource | null {
  for (const id of [runId, runId.replace(/\.c\d+$/, '')]) {
    const source = parse(directory, sourceFile(directory, id));
    if (source !== null) return source;
  }
  return null;
}

function parse(directory: string, file: string): RunSource | null {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    if (kept['builtIn'] === 'report') return { builtIn: 'report' };
    if (typeof kept['flow'] !== 'string') return null;
    const module = kept['module'];
    return {
      flow: path.resolve(directory, kept['flow']),
      module: typeof module === 'string' ? path.resolve(directory, module) : null,
    };
  } catch {
    return null;
  }
}

function sourceFile(directory: string, runId: string): string {
  return path.join(directory, 'sources', `${runId}.json`);
}
