/** A flow as a Mermaid flowchart. */
import type { FlowFile } from 'holdfast';
import { edgeHandle, isBackEdge } from 'holdfast/flow';
import { printable } from './printable.ts';

const shapes: Readonly<Record<string, readonly [string, string]>> = {
  trigger: ['([', '])'],
  'control.condition': ['{', '}'],
  'control.switch': ['{', '}'],
  'control.loop': ['{{', '}}'],
  'control.map': ['[[', ']]'],
  approval: ['[/', '/]'],
  signal: ['>', ']'],
  delay: ['(', ')'],
  subflow: ['[[', ']]'],
  end: ['((', '))'],
  'continue-as-new': ['((', '))'],
};

/** Node ids may be any text, so the chart names them `n0`, `n1` … and shows their ids. */
export function flowMermaid(flow: Pick<FlowFile, 'nodes' | 'edges'>): string {
  const names = new Map(flow.nodes.map(({ id }, index) => [id, `n${index}`]));
  const lines = ['flowchart TD'];
  for (const { id, type } of flow.nodes) {
    const [open, close] = shapes[type] ?? ['[', ']'];
    lines.push(`  ${names.get(id)}${open}"${label(id)}"${close}`);
  }
  for (const edge of flow.edges) {
    const handle = edgeHandle(edge);
    const words = isBackEdge(edge) ? 'next' : handle === 'out' ? '' : handle;
    const arrow = isBackEdge(edge) ? '-.->' : '-->';
    const text = words === '' ? '' : `|"${label(words)}"|`;
    lines.push(`  ${names.get(edge.source)} ${arrow}${text} ${names.get(edge.target)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Mermaid reads `#quot;` and the like inside quotes. */
function label(text: string): string {
  return printable(text)
    .replaceAll('#', '#35;')
    .replaceAll('"', '#quot;')
    .replaceAll('<', '#lt;')
    .replaceAll('>', '#gt;')
    .replaceAll('`', '#96;');
}
