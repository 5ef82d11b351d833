/** The flow of a stored run, read back from its first event. */
import {
  type FlowDefinition,
  type FlowFile,
  HoldfastError,
  isHoldfastError,
  type LoadedRunDefinition,
  loadRunDefinition,
  type RunStorage,
} from 'holdfast';

export interface StoredFlow {
  readonly flow: FlowFile;
  readonly stored: LoadedRunDefinition;
}

/** Throws `RUN_NOT_FOUND`, `RUN_NOT_DRIVABLE` for a run of another form, and storage codes. */
export async function storedFlow(storage: RunStorage, runId: string): Promise<StoredFlow> {
  const stored = await loadRunDefinition(storage, runId);
  const { kind } = stored.definition.graph;
  if (kind === 'flow') {
    return { stored, flow: flowFileOf(stored.graphDefinition.value as unknown as FlowDefinition) };
  }
  throw new HoldfastError(
    'RUN_NOT_DRIVABLE',
    `Run ${runId} is of the graph kind ${kind}; the command line drives flows only.`,
    { runId, kind },
  );
}

/** `storedFlow`, or null for a run that the command line can only look at. */
export async function storedFlowIfAny(
  storage: RunStorage,
  runId: string,
): Promise<FlowFile | null> {
  try {
    return (await storedFlow(storage, runId)).flow;
  } catch (error) {
    if (isHoldfastError(error, 'RUN_NOT_DRIVABLE')) return null;
    throw error;
  }
}

/** The way back from `flowDefinition`. */
function flowFileOf(definition: FlowDefinition): FlowFile {
  return {
    id: definition.id,
    version: definition.definitionVersion,
    nodes: definition.nodes.map(({ id, data }) => ({ id, ...data })),
    edges: definition.edges.map(({ data, ...edge }) => ({ ...edge, ...data })),
  };
}
