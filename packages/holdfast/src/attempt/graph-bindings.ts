/** The host bindings that a graph's requirements ask for: types only. Seed 003. */
import type { GraphRequirements } from '../graph/requirements.ts';
import type { Memory } from '../memory/memory.ts';

/**
 * What a host must bind for a graph: a required memory is a required `Memory`; an unused one
 * forbids it; if only the wider type is known it may be given.
 *
 * @example const bindings: GraphBindings<{ memory: 'required' }> = { memory };
 */
export type GraphBindings<Requirements extends GraphRequirements> = [
  Requirements['memory'],
] extends ['required']
  ? { readonly memory: Memory }
  : [Requirements['memory']] extends ['unused']
    ? { readonly memory?: never }
    : { readonly memory?: Memory };
