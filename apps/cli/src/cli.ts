/** The command line as a function: arguments and ports in, an exit code out. */
import { Command, CommanderError } from 'commander';
import { HoldfastError } from 'holdfast';
import type { CommandResult, CommonOptions } from './command-result.ts';
import { addAnswerCommand } from './commands/answer.ts';
import { addCancelCommand } from './commands/cancel.ts';
import type { AddCommand, CliPorts } from './commands/command.ts';
import { addEventsCommand } from './commands/events.ts';
import { addGraphCommand } from './commands/graph.ts';
import { addListCommand } from './commands/list.ts';
import { addReconcileCommand } from './commands/reconcile.ts';
import { addReportCommand } from './commands/report.ts';
import { addResumeCommand } from './commands/resume.ts';
import { addRunCommand } from './commands/run.ts';
import { addShowCommand } from './commands/show.ts';
import { addSignalCommand } from './commands/signal.ts';
import { addValidateCommand } from './commands/validate.ts';
import { addVerifyCommand } from './commands/verify.ts';
import { exitCodeOfError, exitCodes } from './exit-code.ts';
import { errorDocument, errorText } from './render/error-text.ts';

const commands: readonly AddCommand[] = [
  addReportCommand,
  addRunCommand,
  addResumeCommand,
  addAnswerCommand,
  addReconcileCommand,
  addSignalCommand,
  addCancelCommand,
  addListCommand,
  addShowCommand,
  addEventsCommand,
  addValidateCommand,
  addGraphCommand,
  addVerifyCommand,
];

const VERSION = '0.1.0';

/** Runs one command. It never throws; whatever goes wrong is printed once and is an exit code. */
export async function runCli(args: readonly string[], ports: CliPorts): Promise<number> {
  const { terminal } = ports;
  // Needed before the arguments are parsed: parsing may fail.
  const json = args.includes('--json');
  let exitCode: number = exitCodes.complete;
  const finish = (result: CommandResult, options: CommonOptions): void => {
    exitCode = result.exitCode;
    if (options.json === true) terminal.out(`${JSON.stringify(result.document, null, 2)}\n`);
    else terminal.out(result.text);
  };
  try {
    const program = createProgram(ports, finish);
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync([...args], { from: 'user' });
  } catch (thrown) {
    const error = commandError(thrown);
    if (error === null) return exitCodes.complete;
    exitCode = exitCodeOfError(error);
    if (json) {
      terminal.out(`${JSON.stringify({ error: errorDocument(error), exitCode }, null, 2)}\n`);
    } else {
      terminal.err(errorText(error, terminal.colours, args.includes('--verbose')));
    }
  }
  return exitCode;
}

function createProgram(ports: CliPorts, finish: Parameters<AddCommand>[2]): Command {
  const { terminal } = ports;
  const program = new Command('holdfast')
    .description('Run graphs of work that must not be lost.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      // Refusals are thrown and printed once, with their code.
      writeErr: () => {},
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 complete · 1 failed · 2 invalid · 3 paused · 4 owned by another · ' +
        '5 stopped · 6 store, disk or git · 7 fault',
    );
  for (const add of commands) add(program, ports, finish);
  return program;
}

/** What commander throws for help is no error; the rest becomes one of ours. */
function commandError(thrown: unknown): unknown {
  if (!(thrown instanceof CommanderError)) return thrown;
  if (thrown.exitCode === 0) return null;
  const message = thrown.message.replace(/^error: /, '');
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  return new HoldfastError('INVALID_COMMAND', /[.)?]$/.test(sentence) ? sentence : `${sentence}.`);
}
