/**
 * `control.map`: one function over a list. Each item is a durable sub-step: what was recorded is
 * not done again after a crash or by a retry.
 */
import { type NodeBinding, nodeBinding } from '../../attempt/binding.ts';
import type { NodeContext } from '../../attempt/node-context.ts';
import { failureOf } from '../../attempt/outcome.ts';
import type { JsonValue } from '../../base/json.ts';
import { compileList } from '../../expression/compile.ts';
import { type MapConfig, nodeDefaults } from '../../flow/node-config.ts';
import { type BoundFunction, flowFunction } from './flow-functions.ts';
import { expressionValues } from './flow-scope.ts';
import type { NodeSetting } from './node-setting.ts';

export function mapNode(config: MapConfig, setting: NodeSetting): NodeBinding {
  const { node, functions, scope } = setting;
  const run = flowFunction(functions, config.function, node);
  const items = compileList(config.items, scope, {
    at: { nodeId: node.id, field: '/config/items' },
  });
  return nodeBinding({
    retrySafe: true,
    run: async (input, context) => {
      const list = items.evaluate(expressionValues(input, context.runId));
      return { output: await mapItems(list, { run, config, context }) };
    },
  });
}

interface MapRun {
  readonly run: BoundFunction;
  readonly config: MapConfig;
  readonly context: NodeContext;
}

async function mapItems(list: readonly JsonValue[], work: MapRun): Promise<JsonValue[]> {
  const { maxConcurrency = nodeDefaults.map.maxConcurrency } = work.config;
  const results: JsonValue[] = new Array(list.length).fill(null);
  let next = 0;
  let failure: { readonly error: unknown } | null = null;
  const lane = async () => {
    while (next < list.length && failure === null && !work.context.signal.aborted) {
      const index = next;
      next += 1;
      try {
        results[index] = await oneItem(list[index] ?? null, index, work);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrency, list.length) }, lane));
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
  work.context.signal.throwIfAborted();
  return results;
}

async function oneItem(item: JsonValue, index: number, work: MapRun): Promise<JsonValue> {
  const { config, context } = work;
  const step = (): Promise<unknown> =>
    context.step(`item/${index}`, (inner) => work.run(item, itemContext(context, inner, index)), {
      retrySafe: config.retrySafe ?? false,
    });
  if (config.onError !== 'collect') return (await step()) as JsonValue;
  try {
    return { ok: true, value: (await step()) as JsonValue };
  } catch (error) {
    if (context.signal.aborted) throw error;
    const { code, message } = failureOf(error);
    return { ok: false, code, message };
  }
}

/** An item's own view of the attempt: its key and signal are the step's. */
function itemContext(
  context: NodeContext,
  step: { readonly signal: AbortSignal; readonly idempotencyKey: string },
  index: number,
): NodeContext & { readonly index: number } {
  return {
    index,
    runId: context.runId,
    nodeId: context.nodeId,
    position: context.position,
    runInput: context.runInput,
    memory: context.memory,
    get signal() {
      return step.signal;
    },
    get idempotencyKey() {
      return step.idempotencyKey;
    },
    step: (name, body, options) => context.step(`item/${index}/${name}`, body, options),
    log: context.log,
  };
}
