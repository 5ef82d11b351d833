/**
 * Loads a flow: a JSON file with a module of node functions beside it, or a module that exports a
 * flow written in code. Nothing is stored before all of it has been found sound.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  type FlowFile,
  type FlowFunctions,
  HoldfastError,
  isHoldfastError,
  type JsonValue,
} from 'holdfast';
import { isModuleFile, type LoadedModule, loadModule, moduleEndings } from './load-module.ts';
import { readJsonFile } from './read-json.ts';

export interface LoadedFlow {
  readonly flow: FlowFile;
  /** Where the flow was read from. */
  readonly file: string;
  /** The module of its functions; null when it needs none and none was found. */
  readonly module: LoadedModule | null;
  /** The flows that its subflows name, and those of these. */
  readonly flows: Readonly<Record<string, FlowFile>>;
}

export interface LoadFlowOptions {
  /** An absolute path; without it the module is looked for beside the flow. */
  readonly module?: string | undefined;
}

/** Throws `FILE_UNREADABLE`, `FILE_NOT_JSON`, and what `loadModule` throws. */
export async function loadFlow(file: string, options: LoadFlowOptions = {}): Promise<LoadedFlow> {
  if (isModuleFile(file)) return flowOfModule(await loadModule(file));
  const flow = readJsonFile(file, 'The flow file') as unknown as FlowFile;
  const moduleFile = options.module ?? moduleBeside(file);
  const module = moduleFile === null ? null : await loadModule(moduleFile);
  return { flow, file, module, flows: subflowsOf(flow, file, module) };
}

/** The functions of a flow. Throws `MODULE_MISSING` when it needs some and has no module. */
export function functionsOf(loaded: LoadedFlow): FlowFunctions {
  if (loaded.module !== null) return loaded.module.functions;
  const needed = functionNames(loaded.flow);
  if (needed.length === 0) return {};
  const looked = moduleEndings
    .slice(0, 4)
    .map((ending) => path.basename(stem(loaded.file)) + ending);
  throw new HoldfastError(
    'MODULE_MISSING',
    `Flow ${String(loaded.flow.id)} needs the functions ${needed.slice(0, 10).join(', ')}, and ` +
      `none of ${looked.join(', ')} stands in ${path.dirname(loaded.file)}.`,
    { file: loaded.file, functions: needed },
  );
}

/** The names of the functions that a flow calls, undos included. */
export function functionNames(flow: FlowFile): readonly string[] {
  const names = new Set<string>();
  for (const { config } of nodesOf(flow)) {
    for (const part of [config, (config as { undo?: JsonValue } | undefined)?.undo]) {
      const name = (part as { function?: JsonValue } | undefined)?.function;
      if (typeof name === 'string') names.add(name);
    }
  }
  return [...names];
}

/** The module that stands beside a flow file under the same name, or null. */
export function moduleBeside(file: string): string | null {
  return moduleEndings.map((ending) => stem(file) + ending).find(existsSync) ?? null;
}

function stem(file: string): string {
  return file.replace(/\.json$/, '');
}

function flowOfModule(module: LoadedModule): LoadedFlow {
  const [only, ...others] = module.flows;
  if (only === undefined || others.length > 0) {
    const found = module.flows.map(({ flow }) => flow.id).join(', ') || 'none';
    throw new HoldfastError(
      'MODULE_FAILED',
      `${module.file} must export one flow made by defineFlow; found: ${found}.`,
      { file: module.file },
    );
  }
  return { flow: only.flow, file: module.file, module, flows: ownFlows(module, only.flow) };
}

function ownFlows(module: LoadedModule | null, flow: FlowFile): Record<string, FlowFile> {
  const flows: Record<string, FlowFile> = {};
  for (const defined of module?.flows ?? []) flows[defined.flow.id] = defined.flow;
  if (typeof flow?.id === 'string') flows[flow.id] = flow;
  return flows;
}

/** A subflow is named by its file, with or without `.json`, or is the flow itself by its id. */
function subflowsOf(
  flow: FlowFile,
  file: string,
  module: LoadedModule | null,
): Readonly<Record<string, FlowFile>> {
  const flows = ownFlows(module, flow);
  const open = [flow];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const name of subflowNames(next)) {
      if (Object.hasOwn(flows, name)) continue;
      const found = readSubflow(path.resolve(path.dirname(file), name));
      if (found === null) continue;
      flows[name] = found;
      open.push(found);
    }
  }
  return flows;
}

/** The flows that a flow's subflows name, and those of these, each once and with its name. */
export function namedSubflows({
  flow,
  flows,
}: Pick<LoadedFlow, 'flow' | 'flows'>): readonly (readonly [string, FlowFile])[] {
  const found = new Map<string, FlowFile>();
  const open = [flow];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const name of subflowNames(next)) {
      const named = Object.hasOwn(flows, name) ? flows[name] : undefined;
      if (named === undefined || named === flow || found.has(name)) continue;
      found.set(name, named);
      open.push(named);
    }
  }
  return [...found];
}

function subflowNames(flow: FlowFile): readonly string[] {
  return nodesOf(flow).flatMap(({ type, config }) => {
    const name = (config as { flow?: JsonValue } | undefined)?.flow;
    return type === 'subflow' && typeof name === 'string' && !name.includes('\0') ? [name] : [];
  });
}

/** A name without a file is refused when the subflow is run: `FLOW_UNKNOWN`. */
function readSubflow(file: string): FlowFile | null {
  for (const candidate of [file, `${file}.json`]) {
    try {
      return readJsonFile(candidate, 'The subflow file') as unknown as FlowFile;
    } catch (error) {
      if (!isHoldfastError(error, 'FILE_UNREADABLE')) throw error;
    }
  }
  return null;
}

/** The nodes of what may be no flow at all: compiling refuses it later, with all its issues. */
function nodesOf(flow: FlowFile): readonly { type?: JsonValue; config?: JsonValue }[] {
  const nodes: unknown = flow?.nodes;
  return Array.isArray(nodes) ? nodes.filter((node) => typeof node === 'object' && node) : [];
}

/** The flow of a file without the module of its functions. */
export async function readFlowOnly(file: string): Promise<FlowFile> {
  if (isModuleFile(file)) return (await loadFlow(file)).flow;
  return readJsonFile(file, 'The flow file') as unknown as FlowFile;
}
