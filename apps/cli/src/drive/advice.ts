/** The exact commands that answer a pause or go on with a run, ready to be pasted. */
import path from 'node:path';
import type { JsonValue, PauseView } from 'holdfast';
import type { Terminal } from '../terminal.ts';

export const DEFAULT_DIRECTORY = '.holdfast';

/** Makes commands for one store, as they would be typed in the present folder. */
export class Advice {
  readonly #program: string;
  readonly #directory: readonly string[];

  constructor(terminal: Pick<Terminal, 'program' | 'cwd'>, directory: string) {
    this.#program = terminal.program;
    const isDefault = path.resolve(terminal.cwd, DEFAULT_DIRECTORY) === directory;
    const near = path.relative(terminal.cwd, directory) || '.';
    const shown = near.startsWith('..') ? directory : near;
    this.#directory = isDefault ? [] : ['--directory', shown];
  }

  resume(runId: string): string {
    return this.#command('resume', runId);
  }

  show(runId: string): string {
    return this.#command('show', runId);
  }

  /** The command that ends this pause; a child's is answered by way of the run asked about. */
  answer(pause: PauseView, runId: string): string {
    const { request, pauseId } = pause;
    switch (request.kind) {
      case 'approval':
        return this.#command('answer', runId, pauseId, 'true');
      case 'policy':
        return this.#command('answer', runId, pauseId, '{"decision":"allow"}');
      case 'signal':
        return this.#command('signal', pause.runId, String(request['name']), '{}');
      case 'reconcile-attempt': {
        const step = firstStep(request['steps']);
        const about = step === null ? [] : ['--step', step];
        const said = ['--kind', 'retry', '--reason', 'it did not happen'];
        return this.#command('reconcile', runId, pauseId, ...about, ...said);
      }
      default:
        return this.#command('answer', runId, pauseId, '{}');
    }
  }

  #command(...words: readonly string[]): string {
    return [this.#program, ...[...words, ...this.#directory].map(quoted)].join(' ');
  }
}

function firstStep(steps: JsonValue | undefined): string | null {
  return Array.isArray(steps) && typeof steps[0] === 'string' ? steps[0] : null;
}

/** A word as a POSIX shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
