/** `holdfast validate FLOW`: everything that is wrong with a flow, and nothing is run. */
import path from 'node:path';
import type { FlowFile } from 'holdfast';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { absolute } from '../drive/bind-run.ts';
import { exitCodes } from '../exit-code.ts';
import { type FlowIssues, loadedFlowIssues } from '../flow-file/check-flow.ts';
import { functionNames, type LoadedFlow, loadFlow, namedSubflows } from '../flow-file/load-flow.ts';
import { namedFile } from '../flow-file/named-file.ts';
import { counted } from '../render/counted.ts';
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
  const file = namedFile(terminal.cwd, flowPath, 'the flow');
  const loaded = await loadFlow(file, {
    module: absolute(terminal.cwd, options.module, '--module'),
  });
  const { errors, warnings } = checkFlow(loaded);
  const valid = errors.length === 0;
  const { colours } = terminal;
  const sum = `${counted(errors.length, 'error')}, ${counted(warnings.length, 'warning')}`;
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
  const { errors, warnings } = loadedFlowIssues(loaded);
  return { errors: errors.length === 0 ? functionErrors(loaded) : errors, warnings };
}

/** A subflow uses the functions of the flow that names it. */
function functionErrors(loaded: LoadedFlow): readonly ShownIssue[] {
  const { flow, module } = loaded;
  const given = module?.functions ?? {};
  const where = module === null ? 'no module was found' : path.basename(module.file);
  const missing = (of: FlowFile, file: string) =>
    functionNames(of)
      .filter((name) => !Object.hasOwn(given, name))
      .map((name) => ({
        code: 'FLOW_FUNCTION_MISSING',
        path: `${file}${placeOf(of, name)}`,
        message: `the function ${JSON.stringify(name)} is not exported (${where})`,
      }));
  const subflows = namedSubflows(loaded);
  return [missing(flow, ''), ...subflows.map(([name, of]) => missing(of, `${name}#`))].flat();
}

function placeOf(flow: FlowFile, name: string): string {
  const index = flow.nodes.findIndex((node) =>
    functionNames({ ...flow, nodes: [node] }).includes(name),
  );
  return index < 0 ? '' : `/nodes/${index}/config`;
}
