/**
 * A stored run whose plan asks for engine checks, many processes over it, and scripted engines.
 * What every engine was asked stands in one list, in order.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type AnyCompiledGraph,
  compileGraph,
  createGraphExecutor,
  type DagDefinition,
  dagGraphType,
  EngineError,
  type EngineFailureKind,
  type EventEnvelope,
  type ExecutionTarget,
  engineNode,
  engineSelection,
  type GraphExecutor,
  type GraphExecutorOptions,
  MockEngine,
  type MockEngineOptions,
  type NodeBinding,
  type PreflightLanePolicy,
  persistRunDefinition,
  type RunResult,
  type RunStorage,
  resolveGraphPlan,
} from 'holdfast';
import { createMemoryRunStorage } from 'holdfast/storage/memory';
import { afterAll } from 'vitest';
import { eventsOf } from '../support/stored-events.ts';

export const RUN = 'r1';
export const STREAM = { namespace: 'test', streamId: RUN } as const;

const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdfast-preflight-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A directory of its own. */
export function scratch(): string {
  return realpathSync(mkdtempSync(path.join(base, 'scratch-')));
}

/** `adapter/provider/model`. */
export type TargetName = string;

export interface LaneShape {
  readonly targets: readonly TargetName[];
  readonly live?: PreflightLanePolicy['live'];
  readonly unsupportedStatic?: PreflightLanePolicy['unsupportedStatic'];
  /** Names of its nodes; one named as the lane by default. */
  readonly nodes?: readonly string[];
}

export interface WorldShape {
  /** By lane id. */
  readonly lanes: Readonly<Record<string, LaneShape>>;
  readonly timeoutMs?: number;
  /** A plan without a policy asks for no checks. */
  readonly isUnchecked?: true;
  /** Nodes without a lane, which come first. */
  readonly functions?: Readonly<Record<string, NodeBinding>>;
  /** In place of the plain binding of a lane's node. */
  readonly bindings?: Readonly<Record<string, NodeBinding>>;
  readonly retries?: number;
  readonly storage?: RunStorage;
}

/** What an engine says to each kind of call; the last word of a list is said again and again. */
export interface EngineScript {
  /** `well`, `unsupported`, a failure, or an admission of its own. */
  /** The version that it admits and answers as. */
  readonly version?: string;
  readonly admit?: 'well' | 'unsupported' | EngineFailureKind | MockEngineOptions['admit'];
  /** An answer, or a failure. */
  readonly live?: readonly (string | (() => string | Promise<string>))[];
}

export interface World {
  readonly storage: RunStorage;
  /** `static adapter/provider/model node`, `live …` and `ordinary …`, in order. */
  readonly calls: string[];
  readonly graph: AnyCompiledGraph;
  readonly scratch: string;
  engines: Readonly<Record<TargetName, MockEngine>>;
  /** Gives the engines other words. */
  script(scripts: Readonly<Record<TargetName, EngineScript>>): void;
  /** A fresh executor, as a new process would make it. */
  open(options?: Partial<GraphExecutorOptions>): Promise<GraphExecutor>;
  events(): Promise<readonly EventEnvelope[]>;
  types(): Promise<readonly string[]>;
}

/** Fails a call. */
export function failing(kind: EngineFailureKind, message: string = kind): () => never {
  return () => {
    throw new EngineError({
      kind,
      message,
      usage: { kind: 'reported', inputTokens: 3, outputTokens: 0 },
    });
  };
}

export function targetOf(name: TargetName): ExecutionTarget {
  const [adapter = '', provider = '', model = ''] = name.split('/');
  return { adapter, provider, modelFamily: `${model}-family`, model, tools: ['read'] };
}

export async function worldOf(
  shape: WorldShape,
  scripts: Readonly<Record<TargetName, EngineScript>> = {},
): Promise<World> {
  const { storage = createMemoryRunStorage({ namespace: 'test' }) } = shape;
  const graph = compileGraph(dagGraphType, definitionOf(shape));
  await persistRunDefinition(storage, {
    runId: RUN,
    graphDefinition: graph.definition,
    resolvedPlan: planOf(shape, graph),
    resolvedInputs: null,
  });
  const calls: string[] = [];
  const directory = scratch();
  const names = [...new Set(Object.values(shape.lanes).flatMap(({ targets }) => targets))];
  const versions = new Map<TargetName, string | null>();
  const make = (words: Readonly<Record<TargetName, EngineScript>>) => {
    for (const name of names) versions.set(name, words[name]?.version ?? null);
    return Object.fromEntries(
      names.map((name) => [name, engineOf(name, words[name] ?? {}, calls)]),
    );
  };
  const nodes = nodesOf(shape);
  const events = () => eventsOf(storage, RUN);
  const world: World = {
    storage,
    calls,
    graph,
    scratch: directory,
    engines: make(scripts),
    script: (words) => {
      world.engines = make(words);
    },
    open: (options) =>
      createGraphExecutor({
        runId: RUN,
        graph,
        storage,
        nodes,
        engines: names.map((name) => ({
          target: targetOf(name),
          engine: world.engines[name] ?? new MockEngine(),
          selection: seatedAt(name, versions.get(name)),
        })),
        preflightScratchDirectory: directory,
        ...options,
      }),
    events,
    types: async () => (await events()).map(({ type }) => type),
  };
  return world;
}

function engineOf(name: TargetName, script: EngineScript, calls: string[]): MockEngine {
  const { admit = 'well', live = ['ready'], version = null } = script;
  let asked = 0;
  const target = targetOf(name);
  const admission: MockEngineOptions['admit'] =
    admit === 'unsupported' || admit === 'selection'
      ? admit
      : (request, signal, expected) => {
          calls.push(`static ${name} ${request.attempt?.label}`);
          if (typeof admit === 'function') return admit(request, signal, expected);
          if (admit !== 'well') throw new EngineError({ kind: admit, message: admit });
          return seatedAt(name, version);
        };
  return MockEngine.forTarget(
    target,
    async (request) => {
      if (request.purpose !== 'preflight') {
        calls.push(`ordinary ${name} ${request.attempt?.label}`);
        return `done by ${name}`;
      }
      calls.push(`live ${name}`);
      const word = live[Math.min(asked, live.length - 1)] ?? 'ready';
      asked += 1;
      return typeof word === 'string' ? word : word();
    },
    { admit: admission, selection: { adapterVersion: version } },
  );
}

function definitionOf({ lanes, functions = {}, retries = 0 }: WorldShape): DagDefinition {
  const plain = Object.keys(functions).map((id) => ({
    id,
    data: { kind: 'required', key: null } as const,
  }));
  const engineNodes = Object.entries(lanes).flatMap(([laneId, { targets, nodes = [laneId] }]) => {
    const [requested = targetOf(''), ...knownSubstitutions] = targets.map(targetOf);
    const lane = { id: laneId, requested, knownSubstitutions };
    return nodes.map((id) => ({ id, data: { kind: 'required', key: null, lane } as const }));
  });
  return {
    id: 'checked',
    definitionVersion: 1,
    data: {
      globalConcurrency: 1,
      keyedConcurrency: {},
      stopOnError: false,
      retryCapPerNode: retries,
    },
    nodes: [...plain, ...engineNodes],
    edges: plain.flatMap(({ id: source }) =>
      engineNodes.map(({ id: target }) => ({
        id: `${source}>${target}`,
        source,
        target,
        data: {},
      })),
    ),
  };
}

function planOf(shape: WorldShape, graph: World['graph']) {
  const { lanes, timeoutMs = 2_000, isUnchecked } = shape;
  const identity = { source: 'test', version: '1', digest: graph.definition.digest };
  const preflight = {
    timeoutMs,
    lanes: Object.entries(lanes).map(
      ([laneId, { live = 'required', unsupportedStatic = 'block' }]) => ({
        laneId,
        live,
        unsupportedStatic,
      }),
    ),
  };
  return resolveGraphPlan(graph.describe(), {
    package: identity,
    admission: { package: identity, permissions: [] },
    executionLanes: Object.entries(lanes).map(([id, { targets }]) => {
      const [effective = targetOf(''), ...fallbacks] = targets.map(targetOf);
      return { id, effective, fallbacks };
    }),
    ...(isUnchecked ? {} : { preflight }),
  });
}

function nodesOf({ lanes, functions = {}, bindings = {} }: WorldShape) {
  const named = Object.entries(lanes).flatMap(([laneId, { nodes = [laneId] }]) => nodes);
  const plain = named.map((id) => [id, engineNode({ prompt: () => `Do ${id}.` })] as const);
  return { ...Object.fromEntries(plain), ...functions, ...bindings };
}

/** The identity that an engine of a target admits. */
export function seatedAt(name: TargetName, adapterVersion: string | null = null) {
  const target = targetOf(name);
  return engineSelection({ ...target, adapterVersion, capabilities: target.tools });
}

/** What ends the pause of engine checks that a result is. */
export function pauseOf(result: RunResult): { readonly preflightEventId: string } {
  if (result.kind === 'pause' && result.code === 'PREFLIGHT_PAUSED') {
    const { preflightEventId } = result;
    if (preflightEventId !== undefined) return { preflightEventId };
  }
  throw new Error(`Expected a pause of the engine checks, not ${JSON.stringify(result)}.`);
}

/** The payloads of the events of one type. */
export function payloads(
  events: readonly EventEnvelope[],
  type: string,
): readonly Record<string, unknown>[] {
  return events
    .filter((event) => event.type === type)
    .map(({ payload }) => payload as unknown as Record<string, unknown>);
}
