/**
 * A record of engine checks, written by made-up processes: each asks the fold what to check next
 * and writes what a script says of it. No executor and no engine takes part.
 */
import {
  type ExecutionTarget,
  engineSelection,
  type PreflightLanePolicy,
  type ResolvedExecutionLane,
} from 'holdfast';
import type { EngineFailureKind } from '../../src/base/engine-failure.ts';
import type { EventPayloads, EventType } from '../../src/history/catalog.ts';
import type { StaticOutcome } from '../../src/history/preflight-payload.ts';
import { LaneBook, type PlannedLanes } from '../../src/run/lane-book.ts';
import type { PreflightStep } from '../../src/run/preflight/preflight-step.ts';
import { followUpOf } from '../../src/run/preflight/preflight-step.ts';
import { RunFold, type TypedEvent } from '../../src/run/run-fold.ts';

export const AT = '2026-11-30T10:00:00.000Z';

export interface LaneShape {
  readonly targets: readonly ExecutionTarget[];
  /** How many nodes run on it. */
  readonly nodes: number;
  readonly live: PreflightLanePolicy['live'];
  readonly unsupportedStatic: PreflightLanePolicy['unsupportedStatic'];
}

/** A target of one of few adapters, providers and models, so that they share their fates. */
export function targetOf(adapter: string, provider: string, model: string): ExecutionTarget {
  return { adapter, provider, modelFamily: 'family', model, tools: ['read'] };
}

/** A plan with these lanes, named `lane-0`, `lane-1` …; their nodes are `lane-0/0` … */
export function planOf(shapes: readonly LaneShape[]): PlannedLanes {
  const executionLanes = shapes.map(({ targets }, at): ResolvedExecutionLane => {
    const [effective, ...fallbacks] = targets;
    if (effective === undefined) throw new Error('A lane needs a target.');
    return {
      id: `lane-${at}`,
      requested: effective,
      knownSubstitutions: fallbacks,
      effective,
      fallbacks,
    };
  });
  const contracts = { phaseId: 'all', inputContract: null, outputContract: null };
  const nodes = shapes.flatMap(({ nodes: count }, at) =>
    Array.from({ length: count }, (_, place) => ({
      id: `lane-${at}/${place}`,
      laneId: `lane-${at}`,
      ...contracts,
    })),
  );
  const lanes = shapes.map(({ live, unsupportedStatic }, at) => ({
    laneId: `lane-${at}`,
    live,
    unsupportedStatic,
  }));
  return { executionLanes, nodes, preflight: { timeoutMs: 1_000, lanes } };
}

/** What a probe comes to. */
export type Fate = 'well' | 'unsupported' | 'interrupted' | 'recording-failed' | EngineFailureKind;

export function foldOf(plan: PlannedLanes, events: readonly TypedEvent[]): RunFold {
  const fold = new RunFold('r1', null, new LaneBook(plan));
  for (const event of events) fold.apply(event);
  return fold;
}

export class PreflightRecord {
  readonly plan: PlannedLanes;
  readonly events: TypedEvent[] = [];
  readonly fold: RunFold;
  /** The round of the process that writes now; null once another takes over. */
  round: string | null = null;

  constructor(plan: PlannedLanes) {
    this.plan = plan;
    this.fold = new RunFold('r1', null, new LaneBook(plan));
    this.write('graph:run-started', { definition: null });
  }

  write<Type extends EventType>(type: Type, payload: EventPayloads[Type]): string {
    const sequence = this.events.length + 1;
    const id = `r1@${sequence}`;
    const event = { type, sequence, id, payload } as TypedEvent;
    this.fold.apply(event);
    this.events.push(event);
    return id;
  }

  get next(): PreflightStep {
    return this.fold.preflight.next(this.round);
  }

  /** Makes one check to its end. */
  probe(step: Extract<PreflightStep, { kind: 'static' | 'live' }>, fate: Fate): void {
    const probeEventId = this.start(step);
    this.finish(step, probeEventId, fate);
  }

  start(step: Extract<PreflightStep, { kind: 'static' | 'live' }>): string {
    const { laneId, target, resumedBy } = step;
    const selection = engineSelection({ ...target, capabilities: target.tools });
    const both = { laneId, target, resumedBy, at: AT };
    const id =
      step.kind === 'static'
        ? this.write('preflight:probe-started', {
            stage: 'static',
            ...both,
            contextNodeId: step.contextNodeId,
            selection,
            expected: step.expected,
          })
        : this.write('preflight:probe-started', {
            stage: 'live',
            ...both,
            selection: step.identity ?? { ...selection, capabilities: [] },
          });
    this.round = this.fold.preflight.round;
    return id;
  }

  finish(
    { kind: stage, target }: Extract<PreflightStep, { kind: 'static' | 'live' }>,
    probeEventId: string,
    fate: Fate,
  ): void {
    const open = this.fold.preflight.openProbe;
    if (open === null) throw new Error('No probe is open.');
    const usage = { kind: 'unknown' } as const;
    const live = { usage, reported: null };
    const finished =
      stage === 'static'
        ? { stage, probeEventId, outcome: staticOutcome(target, fate), at: AT }
        : { stage, probeEventId, outcome: { ...live, ...liveOutcome(fate) }, at: AT };
    const finishedEventId = this.write('preflight:probe-finished', finished);
    const owed = followUpOf(finished.outcome, { ...open, finishedEventId });
    if (owed === null) return;
    const { type, ...payload } = owed;
    if (type === 'preflight:paused')
      this.write(type, { ...(payload as Owed<typeof type>), message: 'It went wrong.', at: AT });
    if (type === 'graph:model-unavailable') this.write(type, payload as Owed<typeof type>);
  }

  fail(laneId: string): void {
    const code = 'PREFLIGHT_FAILED';
    this.write('preflight:failed', { laneId, code, reason: 'no-admissible-target', at: AT });
    this.write('graph:run-finished', { outcome: 'fail', code, message: 'No target is left.' });
  }
}

type Owed<Type extends EventType> = Omit<EventPayloads[Type], 'at'> & EventPayloads[Type];

const artifact = {
  schemaVersion: 1,
  digest: `sha256:${'0'.repeat(64)}`,
  byteLength: 2,
  mediaType: 'application/json',
  purpose: 'preflight-evidence',
} as const;

function staticOutcome(target: ExecutionTarget, fate: Fate): StaticOutcome {
  switch (fate) {
    case 'well':
      return {
        kind: 'admitted',
        selection: engineSelection({ ...target, capabilities: target.tools }),
      } as const;
    case 'unsupported':
      return { kind: 'unsupported' };
    case 'interrupted':
      return { kind: 'interrupted' };
    case 'recording-failed':
      return { kind: fate, storageCode: 'STORE_FULL' } as const;
    default:
      return { kind: 'failed', failure: fate, reported: null, diagnostic: null } as const;
  }
}

function liveOutcome(fate: Fate) {
  switch (fate) {
    case 'well':
    case 'unsupported':
      return { kind: 'succeeded', evidence: artifact } as const;
    case 'interrupted':
      return { kind: fate } as const;
    case 'recording-failed':
      return { kind: fate, storageCode: 'STORE_FULL' } as const;
    default:
      return { kind: 'failed', failure: fate, evidence: null, diagnostic: null } as const;
  }
}
