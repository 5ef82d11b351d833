/**
 * The node catalogue: every node type, what its configuration may hold and which outputs it has.
 *
 * Invariants: `error` is one more output of the types that run user code, and of no other; the
 * outputs of a switch come from its configuration.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { LONGEST_DELAY_MS } from '../base/time.ts';
import {
  type ConfigIssue,
  type ConfigSource,
  checkFields,
  type FieldSpecs,
  fieldSources,
  shown,
} from './config-fields.ts';
import { ERROR_HANDLE, type FlowNode } from './flow-graph.ts';
import type { NodeType } from './node-config.ts';

const MOST_TIMES = 1_000_000_000;

const ms = { kind: 'integer', min: 0, max: LONGEST_DELAY_MS } as const;
const positiveMs = { kind: 'integer', min: 1, max: LONGEST_DELAY_MS, optional: true } as const;
const text = { kind: 'text' } as const;
const condition = { kind: 'condition' } as const;
const template = { kind: 'template' } as const;
const json = { kind: 'json' } as const;
const flag = { kind: 'boolean', optional: true } as const;

interface NodeTypeEntry {
  readonly fields: FieldSpecs;
  /** Outputs that every node of the type has, without `error`. */
  readonly outputs: readonly string[];
  readonly runsUserCode?: true;
}

const retry: FieldSpecs = {
  max: { kind: 'integer', min: 0, max: MOST_TIMES },
  delayMs: { ...ms, optional: true },
  factor: { kind: 'number', min: 1, max: 1_000, optional: true },
  maxDelayMs: { ...ms, optional: true },
};

const entries: Readonly<Record<NodeType, NodeTypeEntry>> = {
  trigger: { fields: {}, outputs: ['out'] },
  task: {
    fields: {
      function: text,
      input: { ...json, optional: true },
      retry: { kind: 'object', fields: retry, optional: true },
      timeoutMs: positiveMs,
      graceMs: { ...ms, optional: true },
      retrySafe: flag,
      largeResult: { kind: 'choice', of: ['artifact'], optional: true },
      undo: {
        kind: 'object',
        fields: { function: text, input: { ...json, optional: true } },
        optional: true,
      },
    },
    outputs: ['out'],
    runsUserCode: true,
  },
  'control.condition': { fields: { expression: condition }, outputs: ['true', 'false'] },
  'control.switch': {
    fields: {
      cases: { kind: 'entries', fields: { output: text, expression: condition } },
      otherwise: { ...text, optional: true },
    },
    outputs: [],
  },
  'control.loop': {
    fields: {
      maxIterations: { kind: 'integer', min: 0, max: MOST_TIMES },
      while: { ...condition, optional: true },
    },
    outputs: ['body', 'done'],
  },
  'control.map': {
    fields: {
      items: { kind: 'list' },
      function: text,
      maxConcurrency: { kind: 'integer', min: 1, max: MOST_TIMES, optional: true },
      retrySafe: flag,
      onError: { kind: 'choice', of: ['fail', 'collect'], optional: true },
    },
    outputs: ['out'],
    runsUserCode: true,
  },
  approval: {
    fields: {
      prompt: template,
      deadlineMs: positiveMs,
      onDeadline: { kind: 'choice', of: ['rejected', 'fail'], optional: true },
    },
    outputs: ['approved', 'rejected'],
  },
  delay: { fields: { delayMs: ms }, outputs: ['out'] },
  signal: { fields: { name: template, deadlineMs: positiveMs }, outputs: ['out', 'timeout'] },
  subflow: { fields: { flow: text, input: json }, outputs: ['out'], runsUserCode: true },
  end: { fields: {}, outputs: [] },
  'continue-as-new': { fields: { input: json }, outputs: [] },
};

/** The names of all node types. */
export const nodeTypes: readonly NodeType[] = Object.keys(entries) as NodeType[];

/**
 * True for a type of the catalogue.
 *
 * @example isNodeType('control.loop') // true
 */
export function isNodeType(type: string): type is NodeType {
  return Object.hasOwn(entries, type);
}

/**
 * What is wrong with a node's configuration; empty when nothing is. Seed 004, "Validation".
 *
 * @example validateConfig('delay', { delayMs: -1 })
 * // [{ code: 'INVALID_FIELD', path: '/delayMs', message: 'expected an integer from 0 …' }]
 */
export function validateConfig(type: string, config: unknown): readonly ConfigIssue[] {
  if (!isNodeType(type)) {
    const message = `there is no node type ${shown(type)}`;
    return [{ code: 'INVALID_FIELD', path: '', message }];
  }
  const issues = checkFields(entries[type].fields, config);
  return type === 'control.switch' && issues.length === 0
    ? reservedOutputs(config as JsonObject)
    : issues;
}

/**
 * The outputs a node chooses among when it succeeds: `error` is not one of them. Empty for `end`,
 * `continue-as-new` and unknown types.
 *
 * @example branchesOf({ type: 'task', config: { function: 'f' } }) // ['out']
 */
export function branchesOf(node: Pick<FlowNode, 'type' | 'config'>): readonly string[] {
  if (!isNodeType(node.type)) return [];
  return node.type === 'control.switch' ? switchOutputs(node.config) : entries[node.type].outputs;
}

/**
 * Every output that an edge may leave from, `error` included.
 *
 * @example outputsOf({ type: 'task', config: { function: 'f' } }) // ['out', 'error']
 */
export function outputsOf(node: Pick<FlowNode, 'type' | 'config'>): readonly string[] {
  return runsUserCode(node.type) ? [...branchesOf(node), ERROR_HANDLE] : branchesOf(node);
}

/**
 * True for the types whose attempts run code that users wrote.
 *
 * @example runsUserCode('control.map') // true
 */
export function runsUserCode(type: string): boolean {
  return isNodeType(type) && entries[type].runsUserCode === true;
}

/**
 * The expressions and templates of a node, with their places in its configuration.
 *
 * @example configSources(node) // [{ kind: 'condition', source: 'input.ok', path: '/expression' }]
 */
export function configSources(node: Pick<FlowNode, 'type' | 'config'>): readonly ConfigSource[] {
  return isNodeType(node.type) ? fieldSources(entries[node.type].fields, node.config) : [];
}

function switchOutputs(config: JsonValue): readonly string[] {
  if (!isJsonObject(config)) return [];
  const { cases, otherwise } = config as { cases?: JsonValue; otherwise?: JsonValue };
  const outputs = (Array.isArray(cases) ? (cases as readonly JsonValue[]) : []).map((entry) =>
    isJsonObject(entry) ? entry['output'] : undefined,
  );
  const named = [...outputs, otherwise].filter((output) => typeof output === 'string');
  return [...new Set(named)];
}

/** `error` leads out of failures only, so no case may be called so. */
function reservedOutputs(config: JsonObject): readonly ConfigIssue[] {
  if (!switchOutputs(config).includes(ERROR_HANDLE)) return [];
  const message = `a switch must not call an output "${ERROR_HANDLE}"`;
  return [{ code: 'INVALID_FIELD', path: '/cases', message }];
}
