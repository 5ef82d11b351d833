/**
 * How large a result may be to be recorded, and so how large the input of a flow: it is the result
 * of its trigger.
 */
import { cloneFrozenJson, isJsonObject, type JsonValue } from '../base/json.ts';
import type { AnyGraphDefinition, CompiledGraphDefinition } from '../graph/definition.ts';
import type { ResolvedPlanSnapshot } from '../graph/plan.ts';
import { jsonExceeds } from '../store/json-size.ts';
import { type RunStoragePolicy, safePayloadBytes } from '../store/policy.ts';
import { StorageError } from '../store/storage-error.ts';

/** What stands around a result in its event, in bytes, beside the names. */
const RESULT_FRAME_BYTES = 256;
/** What a trigger returns around the input: `{"output":…}`. */
const TRIGGER_FRAME_BYTES = 11;
/** A UTF-16 code unit as JSON, at most. */
const UNIT_BYTES = 6;

/** The largest result of one position, in bytes of its JSON text. */
export function maxResultBytes(
  policy: RunStoragePolicy,
  { nodeId, position }: { readonly nodeId: string; readonly position: string },
): number {
  const names = (nodeId.length + position.length) * UNIT_BYTES;
  return Math.max(0, safePayloadBytes(policy) - RESULT_FRAME_BYTES - names);
}

/**
 * The largest input of a flow under a policy, in bytes of its JSON text: the input is the result
 * of the flow's trigger, and must fit its event. It throws nothing.
 *
 * @example maxFlowInputBytes(defaultStoragePolicy, 'trigger') // 261751
 */
export function maxFlowInputBytes(policy: RunStoragePolicy, triggerId: string): number {
  const first = { nodeId: triggerId, position: `flow/${triggerId}#1` };
  return Math.max(0, maxResultBytes(policy, first) - TRIGGER_FRAME_BYTES);
}

/**
 * Refuses an input that the first step of a flow could not record, before anything is stored.
 * Throws `STORAGE_LIMIT_EXCEEDED` with `size` and `limit`.
 */
export function requireFittingInput(
  policy: RunStoragePolicy,
  run: {
    readonly plan: ResolvedPlanSnapshot;
    readonly definition: CompiledGraphDefinition<AnyGraphDefinition>;
    readonly input: JsonValue;
  },
): void {
  const trigger = triggerOf(run.plan, run.definition);
  if (trigger === null) return;
  const limit = maxFlowInputBytes(policy, trigger);
  const input = cloneFrozenJson(run.input);
  if (!jsonExceeds(input, limit)) return;
  const size = Buffer.byteLength(JSON.stringify(input));
  throw new StorageError(
    'STORAGE_LIMIT_EXCEEDED',
    `The input of flow ${run.definition.value.id} is ${size} bytes of JSON, over the ${limit} ` +
      'that the result of its trigger may have. Give it the name of a file or of a record, and ' +
      'read that in a task; or raise maxEventPayloadBytes and maxAppendBatchBytes of the policy.',
    { size, limit },
  );
}

/** The node of a flow that returns its input; other graph types take any input that is stored. */
function triggerOf(
  { plan }: ResolvedPlanSnapshot,
  definition: CompiledGraphDefinition<AnyGraphDefinition>,
): string | null {
  if (plan.graph.kind !== 'flow') return null;
  const isTrigger = ({ data }: { readonly data: unknown }) =>
    isJsonObject(data) && data['type'] === 'trigger';
  return definition.value.nodes.find(isTrigger)?.id ?? null;
}
