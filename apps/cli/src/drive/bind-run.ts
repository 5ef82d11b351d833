/** The code of a stored run: its own definition, and the functions of the module it came from. */
import {
  type BoundRun,
  compileGraph,
  type FlowFile,
  type FlowFunctions,
  flowDefinition,
  flowGraphType,
  flowNodes,
  HoldfastError,
} from 'holdfast';
import { functionNames, type LoadedFlow, loadFlow, moduleBeside } from '../flow-file/load-flow.ts';
import { isModuleFile, loadModule } from '../flow-file/load-module.ts';
import { namedFile } from '../flow-file/named-file.ts';
import { type RunSource, readRunSource, writeRunSource } from '../flow-file/run-source.ts';
import { storedFlow } from '../flow-file/stored-flow.ts';
import { reportFunctions } from '../report/report-flow.ts';
import type { Store } from './open-store.ts';

export interface StoredRun {
  readonly flow: FlowFile;
  readonly bound: BoundRun;
}

/** Where to look for the code of a run when it is not where it was. */
export interface MovedCode {
  readonly module?: string | undefined;
  readonly flow?: string | undefined;
}

/** A flow with its code. Throws `GraphValidationError`, `FLOW_FUNCTION_MISSING`. */
export function bindFlow(
  flow: FlowFile,
  functions: FlowFunctions,
  flows: Readonly<Record<string, FlowFile>> = {},
): BoundRun {
  const graph = compileGraph(flowGraphType, flowDefinition(flow));
  return { graph, nodes: flowNodes(flow, functions, { flows }) };
}

/**
 * A stored run with its code, ready to be driven. Throws `RUN_NOT_FOUND`, `RUN_NOT_DRIVABLE`,
 * `MODULE_MISSING`, and what loading a module throws.
 */
export async function bindStoredRun(
  store: Store,
  runId: string,
  moved: MovedCode = {},
): Promise<StoredRun> {
  refuseChild(runId);
  const { flow } = await storedFlow(store.storage, runId);
  const source = readRunSource(store.directory, runId);
  if (source !== null && 'builtIn' in source) {
    return { flow, bound: bindFlow(flow, reportFunctions({ directory: store.directory })) };
  }
  const { flow: flowFile, module } = placeOf(source, moved);
  if (flowFile !== undefined && !isModuleFile(flowFile) && hasSubflows(flow)) {
    const loaded = await loadFlow(flowFile, { module });
    return { flow, bound: bindFlow(flow, functionsFor(flow, loaded), loaded.flows) };
  }
  const file = module ?? (flowFile !== undefined && isModuleFile(flowFile) ? flowFile : undefined);
  if (file === undefined) return { flow, bound: bindFlow(flow, withoutModule(flow, runId)) };
  const { functions, flows } = await loadModule(file);
  const byId = Object.fromEntries(flows.map((defined) => [defined.flow.id, defined.flow]));
  return { flow, bound: bindFlow(flow, functions, { ...byId, [flow.id]: flow }) };
}

type FileSource = Exclude<RunSource, { readonly builtIn: string }>;
type FilePlace = { readonly flow: string | undefined; readonly module: string | undefined };

/** What was named wins; the module of a flow that was moved is looked for beside it first. */
function placeOf(source: FileSource | null, moved: MovedCode): FilePlace {
  const beside =
    moved.flow === undefined || isModuleFile(moved.flow) ? moved.flow : moduleBeside(moved.flow);
  return {
    flow: moved.flow ?? source?.flow,
    module: moved.module ?? beside ?? source?.module ?? undefined,
  };
}

/** Remembers where a run's code was found, if it was named anew. Throws what writing throws. */
export function keepMovedCode(store: Store, runId: string, moved: MovedCode): void {
  const source = readRunSource(store.directory, runId);
  if (source !== null && 'builtIn' in source) return;
  if (moved.flow === undefined && moved.module === undefined) return;
  const { flow, module } = placeOf(source, moved);
  const file = flow ?? module;
  if (file === undefined) return;
  writeRunSource(store.directory, runId, { flow: file, module: module ?? null });
}

/**
 * A stored run for commands that answer but do not drive: its functions are not needed, so their
 * module is not loaded.
 */
export async function bindWithoutCode(store: Store, runId: string): Promise<StoredRun> {
  const { flow } = await storedFlow(store.storage, runId);
  const never = () => {
    throw new HoldfastError('ASSERTION', 'A command that only answers has driven a run.');
  };
  const functions = Object.fromEntries(functionNames(flow).map((name) => [name, never]));
  return { flow, bound: bindFlow(flow, functions, { [flow.id]: flow }) };
}

function functionsFor(flow: FlowFile, loaded: LoadedFlow): FlowFunctions {
  return loaded.module?.functions ?? withoutModule(flow, flow.id);
}

function withoutModule(flow: FlowFile, runId: string): FlowFunctions {
  const needed = functionNames(flow);
  if (needed.length === 0) return {};
  throw new HoldfastError(
    'MODULE_MISSING',
    `Run ${runId} needs the functions ${needed.slice(0, 10).join(', ')}, and it is not known ` +
      'which module they are in. Name it with --module.',
    { runId, functions: needed },
  );
}

function hasSubflows(flow: FlowFile): boolean {
  return flow.nodes.some(({ type }) => type === 'subflow');
}

/** The run that is driven when this one is to go on: a child goes on with its parent. */
export function rootOf(runId: string): string {
  const parent = parentOf(runId);
  return parent === undefined ? runId : rootOf(parent);
}

function parentOf(runId: string): string | undefined {
  return /^(.+)\.[0-9a-f]{16}(?:\.c\d+)?$/.exec(runId)?.[1];
}

function refuseChild(runId: string): void {
  const parent = parentOf(runId);
  if (parent === undefined) return;
  throw new HoldfastError(
    'RUN_NOT_DRIVABLE',
    `Run ${runId} is a child: it goes on with its parent, ${parent}.`,
    { runId, parent },
  );
}

/** The absolute path of a file that an option names. Throws `INVALID_COMMAND` for no name. */
export function absolute(
  cwd: string,
  file: string | undefined,
  option: string,
): string | undefined {
  return file === undefined ? undefined : namedFile(cwd, file, option);
}
