/** `holdfast graph FLOW`: the flow as a Mermaid chart, or as JSON. */
import type { FlowFile } from 'holdfast';
import { edgeHandle, isBackEdge } from 'holdfast/flow';
import type { CommandResult, CommonOptions } from '../command-result.ts';
import { exitCodes } from '../exit-code.ts';
import { requireSoundFlow } from '../flow-file/check-flow.ts';
import { readFlowOnly } from '../flow-file/load-flow.ts';
import { namedFile } from '../flow-file/named-file.ts';
import { flowLayout } from '../render/flow-layout.ts';
import { flowMermaid } from '../render/mermaid.ts';
import { type AddCommand, type CliPorts, withCommonOptions } from './command.ts';

export const addGraphCommand: AddCommand = (program, ports, finish) => {
  withCommonOptions(program.command('graph'))
    .description('print a flow as a Mermaid chart (--json: as nodes and edges)')
    .argument('<flow>', 'the flow file')
    .action(async (flow: string, options: CommonOptions) => {
      finish(await drawGraph(ports, flow), options);
    });
};

async function drawGraph({ terminal }: CliPorts, flowPath: string): Promise<CommandResult> {
  const flow = await readFlowOnly(namedFile(terminal.cwd, flowPath, 'the flow'));
  requireSoundFlow({ flow, flows: {} }, flowPath);
  return { exitCode: exitCodes.complete, document: chart(flow), text: flowMermaid(flow) };
}

/** Nodes in the order of the tree, edges with the outputs they leave from. */
function chart(flow: FlowFile): object {
  const order = new Map(flowLayout(flow).map(({ nodeId }, place) => [nodeId, place]));
  const nodes = flow.nodes
    .map(({ id, type, config }) => ({ id, type, config }))
    .sort((left, right) => (order.get(left.id) ?? 0) - (order.get(right.id) ?? 0));
  const edges = flow.edges.map((edge) => ({
    id: edge.id,
    source: edge.source,
    output: edgeHandle(edge),
    target: edge.target,
    isBack: isBackEdge(edge),
  }));
  return { id: flow.id, version: flow.version ?? 1, nodes, edges };
}
