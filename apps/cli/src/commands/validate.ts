/** `holdfast validate FLOW`: everything that is wrong with a flow, and nothing is run. */
import path from 'node:path';
import type { FlowFile } from 'holdfast';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { absolute } from '../drive/bind-run.ts';
import { exitCodes } from '../exit-code.ts';
import { type FlowIssues, flowIssues } from '../flow-file/check-flow.ts';
import { functionNames, type LoadedFlow, loadFlow } from '../flow-file/load-flow.ts';
import { issueLines, type ShownIssue } from '../render/error-text.ts';
import { printable } from '../render/printable.ts';
import { type AddCommand, type CliPorts, withCommonOptions } from './command.ts';

interface ValidateOptions extends CommonOptions {
  readonly module?: string;
}

export const addValidateCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('validate'))
    .description('check a flow and its functions')
    .argument('<flow>', 'the flow file')
    .option('--module <file>', 'the functions, if they are not beside the flow')
    .action(async (flow: string, options: ValidateOptions) => {
      finish(await validateFlowFile(ports, flow, options), options);
    });
};

async function validateFlowFile(
  { terminal }: CliPorts,
  flowPath: string,
  options: ValidateOptions,
): Promise<CommandResult> {
  const file = path.resolve(terminal.cwd, flowPath);
  const loaded = await loadFlow(file, { module: absolute(terminal.cwd, options.module) });
  const { errors, warnings } = checkFlow(loaded);
  const valid = errors.length === 0;
  const { colours } = terminal;
  const sum = `${errors.length} errors, ${warnings.length} warnings`;
  const lines = [
    ...(errors.length === 0 ? [] : [colours.red('errors'), ...issueLines(errors)]),
    ...(warnings.length === 0 ? [] : [colours.yellow('warnings'), ...issueLines(warnings)]),
    `${valid ? colours.green('valid') : colours.red('invalid')}  ${printable(flowPath)}  ${sum}`,
  ];
  return {
    exitCode: valid ? exitCodes.complete : exitCodes.invalid,
    document: { file, valid, errors, warnings },
    text: `${lines.join('\n')}\n`,
  };
}

function checkFlow(loaded: LoadedFlow): FlowIssues {
  const { errors, warnings } = flowIssues(loaded.flow);
  return { errors: errors.length === 0 ? functionErrors(loaded) : errors, warnings };
}

function functionErrors({ flow, module }: LoadedFlow): readonly ShownIssue[] {
  const given = module?.functions ?? {};
  const where = module === null ? 'no module was found' : path.basename(module.file);
  return functionNames(flow)
    .filter((name) => !Object.hasOwn(given, name))
    .map((name) => ({
      code: 'FLOW_FUNCTION_MISSING',
      path: placeOf(flow, name),
      message: `the function ${JSON.stringify(name)} is not exported (${where})`,
    }));
}

function placeOf(flow: FlowFile, name: string): string {
  const index = flow.nodes.findIndex((node) =>
    functionNames({ ...flow, nodes: [node] }).includes(name),
  );
  return index < 0 ? '' : `/nodes/${index}/config`;
}
