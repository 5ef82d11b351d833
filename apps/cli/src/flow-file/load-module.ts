/** Loads a module of node functions by dynamic import, TypeScript too where that can run. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { type DefinedFlow, type FlowFunctions, HoldfastError } from 'holdfast';

/** What a module offers to flows. */
export interface LoadedModule {
  readonly file: string;
  readonly functions: FlowFunctions;
  /** Flows written in code that it exports. */
  readonly flows: readonly DefinedFlow[];
}

/** The endings of modules, in the order in which one is looked for beside a flow file. */
export const moduleEndings = ['.ts', '.mts', '.js', '.mjs', '.cts', '.cjs'] as const;

export function isModuleFile(file: string): boolean {
  return moduleEndings.some((ending) => file.endsWith(ending));
}

/**
 * Every exported function is a node function by its name; `export const functions = { … }` adds
 * those whose names are no identifiers; exported flows bring their own.
 *
 * Throws `FILE_UNREADABLE`, `TYPESCRIPT_UNSUPPORTED`, `MODULE_FAILED`.
 */
export async function loadModule(file: string): Promise<LoadedModule> {
  if (!existsSync(file)) {
    throw new HoldfastError(
      'FILE_UNREADABLE',
      `The module ${file}: it does not exist. Name the module with --module.`,
      { file, reason: 'ENOENT' },
    );
  }
  const exported = await importFile(file);
  const functions: Record<string, FlowFunctions[string]> = {};
  const flows: DefinedFlow[] = [];
  for (const [name, value] of Object.entries(exported)) {
    if (typeof value === 'function') define(functions, name, value);
    else if (isDefinedFlow(value)) flows.push(value);
    else if (name === 'functions') addAll(functions, value);
  }
  for (const flow of flows) addAll(functions, flow.functions);
  return { file, functions, flows };
}

function addAll(functions: Record<string, FlowFunctions[string]>, more: unknown): void {
  for (const [name, value] of Object.entries((more ?? {}) as object)) {
    if (typeof value === 'function') define(functions, name, value);
  }
}

/** An own property under any name, `__proto__` too. */
function define(functions: Record<string, FlowFunctions[string]>, name: string, value: unknown) {
  Object.defineProperty(functions, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function isDefinedFlow(value: unknown): value is DefinedFlow {
  if (typeof value !== 'object' || value === null) return false;
  if (!('flow' in value && 'functions' in value)) return false;
  const { flow } = value;
  return typeof flow === 'object' && flow !== null && 'nodes' in flow && 'edges' in flow;
}

async function importFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  const stop = /\.[cm]?ts$/.test(file) ? await typeScriptLoader(file) : () => {};
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new HoldfastError('MODULE_FAILED', `${file} cannot be loaded. ${what}`, { file }, error);
  } finally {
    await stop();
  }
}

/** Node's own type stripping, else tsx if it is installed; resolves with the way to stop it. */
async function typeScriptLoader(file: string): Promise<() => void | Promise<void>> {
  if ('typescript' in process.features && process.features.typescript) return () => {};
  for (const from of [file, import.meta.url]) {
    const api = tsxApi(from);
    if (api === null) continue;
    const { register } = (await import(pathToFileURL(api).href)) as {
      readonly register: () => () => Promise<void>;
    };
    return register();
  }
  throw new HoldfastError(
    'TYPESCRIPT_UNSUPPORTED',
    `${path.basename(file)} is TypeScript; Node ${process.versions.node} cannot run it and tsx ` +
      'was found neither beside it nor beside holdfast.',
    { file },
  );
}

/** The file behind `tsx/esm/api` for an import; `require.resolve` would answer with another. */
function tsxApi(from: string): string | null {
  try {
    const require = createRequire(from);
    const manifest = require.resolve('tsx/package.json');
    const { exports } = require(manifest) as { readonly exports: TsxExports };
    return path.join(path.dirname(manifest), exports['./esm/api'].import.default);
  } catch {
    return null;
  }
}

interface TsxExports {
  readonly './esm/api': { readonly import: { readonly default: string } };
}
