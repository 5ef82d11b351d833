/** Fields of a flow file that mean nothing: most often a name that was misspelt or misplaced. */
import type { GraphIssue } from 'holdfast/graph';

const flowFields = ['id', 'version', 'name', 'description', 'nodes', 'edges'];
const nodeFields = ['id', 'type', 'config', 'position'];
const edgeFields = ['id', 'source', 'sourceHandle', 'target', 'targetHandle'];

/** One `UNKNOWN_FIELD` each, whatever the file holds; configurations are checked by their types. */
export function unknownFields(flow: unknown): readonly GraphIssue[] {
  if (!isRecord(flow)) return [];
  return [
    ...unknownOf(flow, flowFields, ''),
    ...listOf(flow['nodes']).flatMap((node, index) =>
      unknownOf(node, nodeFields, `/nodes/${index}`),
    ),
    ...listOf(flow['edges']).flatMap((edge, index) =>
      unknownOf(edge, edgeFields, `/edges/${index}`),
    ),
  ];
}

function unknownOf(value: unknown, known: readonly string[], place: string): GraphIssue[] {
  if (!isRecord(value)) return [];
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      code: 'UNKNOWN_FIELD',
      path: `${place}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      message: `${JSON.stringify(key.slice(0, 100))} is not known here; use ${known.join(', ')}`,
    }));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
