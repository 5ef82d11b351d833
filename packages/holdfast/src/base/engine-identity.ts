/** Which engine, provider and model: the names that plans, events and engines share. */
import { requireObject } from './option.ts';

/** How an event names an engine. A part that nobody knows is null. */
export interface GraphEngineIdentity {
  readonly adapter: string;
  readonly provider: string | null;
  readonly modelFamily: string | null;
  readonly model: string | null;
}

/** The full identity that an engine runs under, with its adapter version and executable. */
export interface EngineSelectionRecord extends GraphEngineIdentity {
  readonly adapterVersion: string | null;
  /** The absolute path of a command-line tool; null when there is none. */
  readonly executable: string | null;
  /** Distinct tool names. */
  readonly capabilities: readonly string[];
}

/**
 * A full identity from what is known of it: the rest is null, or no capability.
 *
 * @example engineSelection({ adapter: 'mock', model: 'small' }).provider // null
 */
export function engineSelection(
  known: Partial<EngineSelectionRecord> & Pick<EngineSelectionRecord, 'adapter'>,
): EngineSelectionRecord {
  requireObject('selection', known);
  return Object.freeze({
    adapter: known.adapter,
    adapterVersion: known.adapterVersion ?? null,
    provider: known.provider ?? null,
    modelFamily: known.modelFamily ?? null,
    model: known.model ?? null,
    executable: known.executable ?? null,
    capabilities: Object.freeze([...(known.capabilities ?? [])]),
  });
}

/** What an event keeps of an identity. */
export function engineIdentity(identity: GraphEngineIdentity): GraphEngineIdentity {
  const { adapter, provider, modelFamily, model } = identity;
  return Object.freeze({ adapter, provider, modelFamily, model });
}
