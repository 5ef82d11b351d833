/** What commands are made of: the ports they are given, and the options that all of them have. */
import path from 'node:path';
import type { Command } from 'commander';
import type { FlowFile } from 'holdfast';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { DEFAULT_DIRECTORY } from '../drive/advice.ts';
import type { Prompter } from '../drive/prompter.ts';
import { LiveTree } from '../render/live-tree.ts';
import { PlainLines } from '../render/plain-lines.ts';
import { type Presenter, silentPresenter } from '../render/presenter.ts';
import type { Terminal } from '../terminal.ts';

export interface CliPorts {
  readonly terminal: Terminal;
  readonly prompter: Prompter;
}

/** Takes the result of the one command that ran. */
export type Finish = (result: CommandResult, options: CommonOptions) => void;

/** Adds a command to the program. */
export type AddCommand = (program: Command, ports: CliPorts, finish: Finish) => void;

/** The options of every command. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--directory <folder>', 'where runs are stored', DEFAULT_DIRECTORY)
    .option('--json', 'print exactly one JSON document')
    .option('--no-color', 'print without colours (also: NO_COLOR)')
    .option('--verbose', 'show stacks of errors');
}

/** The store's folder as an absolute path. */
export function directoryOf({ terminal }: CliPorts, options: CommonOptions): string {
  return path.resolve(terminal.cwd, options.directory);
}

/** How a run is shown while it is driven. */
export function presenterFor(
  { terminal }: CliPorts,
  options: CommonOptions,
  flow: FlowFile,
): Presenter {
  if (options.json === true) return silentPresenter;
  return terminal.isLive ? new LiveTree(terminal, flow) : new PlainLines(terminal);
}

/** Whether this command may ask a person. */
export function mayAsk({ terminal }: CliPorts, options: CommonOptions): boolean {
  return terminal.isInteractive && options.json !== true;
}

/** Who says it: the option, or the user of the machine. */
export function speaker({ terminal }: CliPorts, by: string | undefined): string {
  return by ?? terminal.user;
}
