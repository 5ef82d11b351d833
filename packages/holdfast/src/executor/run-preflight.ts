/**
 * The engine checks of a stored run as others see and end them: no graph code and no engine is
 * needed. Seed 002, "Check the engines".
 */
import { isHoldfastError } from '../base/errors.ts';
import { cloneFrozenJson } from '../base/json.ts';
import type { Clock } from '../base/ports.ts';
import { isoTime } from '../base/time.ts';
import { UNKNOWN_USAGE } from '../base/usage.ts';
import { type EventPayloads, type EventType, eventCatalog } from '../history/catalog.ts';
import { derivedEventId, type NewEvent } from '../history/envelope.ts';
import type { ProbeFinished } from '../history/preflight-payload.ts';
import { LaneBook } from '../run/lane-book.ts';
import type { OpenProbe, RunPreflight } from '../run/preflight/preflight-facts.ts';
import type { PreflightPause } from '../run/preflight/preflight-step.ts';
import { RunFold, type SavedFold, typedEvent } from '../run/run-fold.ts';
import { isSavedMachine } from '../run/run-machine.ts';
import type { LeaseGrant } from '../store/lease-store.ts';
import type { RunStorage } from '../store/storage.ts';
import { createSystemClock } from '../store/system-clock.ts';
import { preflightReason } from './preflight-reason.ts';
import { loadRunDefinition, streamOf } from './run-definition.ts';

/** Under which lease the run is touched, and by which clock. */
export interface InterruptOptions {
  readonly lease?: LeaseGrant;
  readonly clock?: Clock;
}

/**
 * Where the engine checks of a run stand; `disabled` when its plan asks for none. It tells of the
 * checks only: of a run that was cancelled before they were done it says `pending`, and no pause.
 *
 * Throws `RUN_NOT_FOUND`, `INVALID_EVENT` naming an event that breaks the record's rules, and what
 * the store throws.
 *
 * @example (await readRunPreflight(storage, 'r1')).phase // 'admitted'
 */
export async function readRunPreflight(storage: RunStorage, runId: string): Promise<RunPreflight> {
  const { preflight, end } = await readFold(storage, runId);
  const view = preflight.view();
  return end === null ? view : lastOf(view);
}

/** Nothing of a run that has ended waits for anybody. */
function lastOf(view: RunPreflight): RunPreflight {
  const phase = view.phase === 'paused' ? 'pending' : view.phase;
  return { ...view, phase, pause: null, unfinishedProbeEventId: null };
}

/**
 * Ends the check that a dead process has left open: it becomes a pause, which `resume` ends. Call
 * it only once that process is proven dead. Returns the open pause, that of an earlier call too;
 * null when there is none.
 *
 * Throws `RUN_NOT_FOUND`, `INVALID_EVENT`, and what the store throws.
 *
 * @example const pause = await interruptRunPreflight(storage, 'r1')
 */
export async function interruptRunPreflight(
  storage: RunStorage,
  runId: string,
  options: InterruptOptions = {},
): Promise<PreflightPause | null> {
  for (;;) {
    const fold = await readFold(storage, runId);
    if (fold.end !== null) return null;
    const { openProbe } = fold.preflight;
    if (openProbe === null) return fold.preflight.view().pause;
    try {
      await appendInterrupted(storage, { fold, openProbe }, options);
    } catch (error) {
      if (!isHoldfastError(error, 'SEQUENCE_CONFLICT')) throw error;
    }
  }
}

async function appendInterrupted(
  storage: RunStorage,
  { fold, openProbe }: { readonly fold: RunFold; readonly openProbe: OpenProbe },
  { lease, clock = createSystemClock() }: InterruptOptions,
): Promise<void> {
  const { runId, sequence } = fold;
  const at = isoTime(clock.now());
  const finishedEventId = derivedEventId(runId, sequence + 1);
  const ended = interruptedEnd(openProbe, at);
  const { outcome } = ended;
  const message = preflightReason(openProbe.started, { outcome, why: null }, storage);
  const paused = { finishedEventId, reason: 'interrupted', message, at } as const;
  const events = [
    eventOf('preflight:probe-finished', ended, at),
    eventOf('preflight:paused', paused, at),
  ];
  const index = { status: 'paused', wakeAt: null } as const;
  const fence = lease === undefined ? {} : { fence: lease.fence };
  await storage.eventStore.append(streamOf(storage, runId), sequence, events, { index, ...fence });
}

/** Nobody knows what an interrupted call has used. */
function interruptedEnd({ eventId, started }: OpenProbe, at: string): ProbeFinished {
  const kind = 'interrupted';
  const probe = { probeEventId: eventId, at };
  return started.stage === 'static'
    ? { stage: 'static', outcome: { kind }, ...probe }
    : { stage: 'live', outcome: { kind, usage: UNKNOWN_USAGE, reported: null }, ...probe };
}

function eventOf<Type extends EventType>(
  type: Type,
  payload: EventPayloads[Type],
  timestamp: string,
): NewEvent {
  const { version } = eventCatalog[type];
  return { type, version, timestamp, payload: cloneFrozenJson(payload) };
}

/** The run without its graph, folded from the newest snapshot. */
async function readFold(storage: RunStorage, runId: string): Promise<RunFold> {
  const { graphDefinition, resolvedPlan } = await loadRunDefinition(storage, runId);
  const stream = streamOf(storage, runId);
  const saved = await storage.snapshotStore.newest(stream);
  const isOwn = saved !== null && isSavedMachine(saved.body, graphDefinition.digest);
  const start = isOwn ? (saved.body['fold'] as unknown as SavedFold) : null;
  const fold = new RunFold(runId, start, new LaneBook(resolvedPlan.plan));
  for await (const envelope of storage.eventStore.read(stream, { after: fold.sequence })) {
    fold.apply(typedEvent(envelope));
  }
  // A killed writer may have written what it never synced: what is told of it must stand.
  await storage.eventStore.sync();
  return fold;
}
