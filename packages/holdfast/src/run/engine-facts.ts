/**
 * The engine side of a run's fold: receipts of calls, what they have used, and which lanes are
 * proven dead. It says by which rule of the record a receipt or a fact is refused.
 */
import { LANE_DEAD_FAILURES } from '../base/engine-failure.ts';
import type { GraphEngineIdentity } from '../base/engine-identity.ts';
import type { ResolvedExecutionLane } from '../graph/plan.ts';
import type { EventPayloads } from '../history/catalog.ts';
import { DeadLanes } from './dead-lanes.ts';
import { EngineUsage } from './engine-usage.ts';
import { type LaneBook, targetsNamed } from './lane-book.ts';
import type { EngineCall, PositionRecord } from './position-record.ts';

type Receipt = EventPayloads['graph:engine-attempt-recorded'];
type Unavailable = EventPayloads['graph:model-unavailable'];

/** What a snapshot keeps; absent from those of runs that called no engine. */
export interface SavedEngineFacts {
  readonly dead: ReturnType<DeadLanes['save']>;
  readonly usage: ReturnType<EngineUsage['save']>;
}

export class EngineFacts {
  readonly lanes: LaneBook;
  readonly dead: DeadLanes;
  readonly usage: EngineUsage;

  constructor(lanes: LaneBook, saved?: SavedEngineFacts) {
    this.lanes = lanes;
    this.dead = new DeadLanes(saved?.dead);
    this.usage = new EngineUsage(saved?.usage);
  }

  /** The rule that a receipt breaks; null once it is taken in. */
  receipt(receipt: Receipt, record: PositionRecord): string | null {
    const { nodeId, position, sequence, requested } = receipt;
    const lane = this.lanes.laneOf(nodeId);
    if (lane === null) return `${nodeId} runs on no lane of the plan`;
    if (record.status !== 'running') return `${position} is not running`;
    const expected = (record.lastCall?.sequence ?? 0) + 1;
    if (sequence !== expected)
      return `call ${sequence} of ${position} stands where ${expected} must`;
    if (requested === null) {
      const fault = askedForNothing(receipt);
      if (fault !== null) return fault;
    } else if (targetsNamed(lane, requested).length === 0) {
      return `lane ${lane.id} has no target of ${shown(requested)}`;
    }
    this.usage.add(nodeId, receipt.usage);
    return null;
  }

  /** The rule that a fact breaks; null once it is taken in. Throws `ENGINE_IDENTITY_UNRESOLVED`. */
  unavailable(fact: Unavailable, record: PositionRecord | null): string | null {
    const lane = this.#laneOf(fact);
    if (lane === null) return 'it names no lane of the plan';
    if (!LANE_DEAD_FAILURES.has(fact.failure)) return `${fact.failure} proves no lane dead`;
    if (targetsNamed(lane, fact.selected).length === 0) {
      return `lane ${lane.id} has no target of ${shown(fact.selected)}`;
    }
    const { source } = fact;
    if (source.kind === 'attempt' && !provedBy(record?.lastCall ?? null, fact, source.sequence)) {
      return `no call ${source.sequence} of ${fact.position ?? 'any position'} proves it`;
    }
    this.dead.record(fact, lane);
    return null;
  }

  #laneOf({ nodeId, source }: Unavailable): ResolvedExecutionLane | null {
    if (source.kind === 'preflight') return this.lanes.lane(source.laneId);
    return nodeId === undefined ? null : this.lanes.laneOf(nodeId);
  }

  save(): SavedEngineFacts {
    return { dead: this.dead.save(), usage: this.usage.save() };
  }
}

/** A call of which it is not known what it asked for proves nothing. */
function askedForNothing({ effective, usage, failure = 'unknown' }: Receipt): string | null {
  if (effective !== null || usage.kind !== 'unknown') {
    return 'a call of which nothing was asked has no identity and no usage';
  }
  return LANE_DEAD_FAILURES.has(failure)
    ? `a call of which nothing was asked has not failed for ${failure}`
    : null;
}

function provedBy(call: EngineCall | null, fact: Unavailable, sequence: number): boolean {
  if (call === null || call.sequence !== sequence || call.failure !== fact.failure) return false;
  return call.requested !== null && shown(call.requested) === shown(fact.selected);
}

function shown({ adapter, provider, modelFamily, model }: GraphEngineIdentity): string {
  return JSON.stringify([adapter, provider, modelFamily, model]);
}
