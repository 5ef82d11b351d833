/** What a command says of a run that came to rest. */
import type { DrivenRun, PauseView, RunResult } from 'holdfast';
import { isHoldfastError } from 'holdfast';
import type { CommandResult } from '../command-result.ts';
import { exitCodeOfResult } from '../exit-code.ts';
import { pauseText } from '../render/node-text.ts';
import { printable, printableLines } from '../render/printable.ts';
import type { Terminal } from '../terminal.ts';
import { Advice } from './advice.ts';

const statuses: Readonly<Record<RunResult['kind'], string>> = {
  complete: 'complete',
  fail: 'failed',
  pause: 'paused',
  waiting: 'stopped',
};

/** The result of `run`, `resume` and `report`. */
export function runReport(
  { runId, result }: DrivenRun,
  terminal: Terminal,
  directory: string,
): CommandResult {
  const advice = new Advice(terminal, directory);
  const exitCode = exitCodeOfResult(result);
  return {
    exitCode,
    document: {
      runId,
      directory,
      status: statuses[result.kind],
      exitCode,
      ...parts(result, runId, advice),
    },
    text: `${textOf(runId, result, { advice, terminal }).join('\n')}\n`,
  };
}

function parts(result: RunResult, runId: string, advice: Advice): object {
  switch (result.kind) {
    case 'complete':
      return { output: result.output };
    case 'fail':
      return { error: { code: result.code, message: result.message } };
    case 'pause': {
      const { reason, wakeAt } = result;
      const pauses = result.pauses.map((pause) => ({
        ...pause,
        answerWith: advice.answer(pause, runId),
      }));
      return {
        reason,
        pauses,
        ...(wakeAt === undefined ? {} : { wakeAt }),
        next: advice.resume(runId),
      };
    }
    case 'waiting':
      return { next: advice.resume(runId) };
  }
}

interface TextParts {
  readonly advice: Advice;
  readonly terminal: Terminal;
}

function textOf(runId: string, result: RunResult, parts: TextParts): readonly string[] {
  const { advice, terminal } = parts;
  const { colours } = terminal;
  switch (result.kind) {
    case 'complete':
      return [`${colours.green('complete')}  ${runId}`];
    case 'fail': {
      const [first = '', ...rest] = printableLines(result.message);
      return [
        `${colours.red('failed')}  ${runId}  ${printable(result.code)}: ${first}`,
        ...rest.map((line) => `  ${line}`),
        `Look at it:  ${advice.show(runId)}`,
      ];
    }
    case 'pause':
      return [
        `${colours.yellow('paused')}  ${runId}  ${printable(result.reason)}`,
        ...pauseLines(result.pauses, runId, advice),
        `Then go on:  ${advice.resume(runId)}`,
      ];
    case 'waiting':
      return [
        `${colours.yellow('stopped')}  ${runId}  Nothing is lost.`,
        `Go on:  ${advice.resume(runId)}`,
      ];
  }
}

/** Each open pause: what it asks, and the command that answers it. */
export function pauseLines(
  pauses: readonly PauseView[],
  runId: string,
  advice: Advice,
): readonly string[] {
  return pauses.flatMap((pause) => {
    const { prompt } = pause.request;
    const asked = typeof prompt === 'string' ? printableLines(prompt) : [];
    return [
      `  ${printable(pause.nodeId)} ${pauseText(pause.request)}`,
      ...asked.map((line) => `    ${line}`),
      `    ${advice.answer(pause, runId)}`,
    ];
  });
}

/** `ABORTED` means that a second Ctrl-C halted the run: that is a way to rest, not a failure. */
export function haltedAsResult(error: unknown, runId: string): DrivenRun {
  if (isHoldfastError(error, 'ABORTED')) {
    return { runId, result: { kind: 'waiting', positions: [] } };
  }
  throw error;
}
