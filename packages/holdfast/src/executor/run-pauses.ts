/** The open pauses of a run as its caller sees them; a child's stand in its parent's pause. */
import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { OpenPause, PositionRecord } from '../run/position-record.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { PauseView, RunPaused } from '../run/run-result.ts';
import { leavesPausesOut } from './child-pauses.ts';
import type { GraphExecutor } from './executor.ts';

/** Every open pause, in the order of pausing; those of child runs in place of their parent's. */
export function openPauses(fold: RunFold): readonly PauseView[] {
  return fold.openWaits().flatMap(({ record, pause }) => viewsOf(fold.runId, record, pause));
}

/** The run whose open pauses are listed. */
interface PausedRun {
  readonly look: <Seen>(select: (fold: RunFold) => Seen) => Promise<Seen>;
  readonly openChildren: {
    readonly owning: (runId: string) => Promise<{ readonly executor: GraphExecutor } | null>;
  };
}

/** The same, with those of children that are too many or too large for their parent's record. */
export async function allPauses(run: PausedRun): Promise<readonly PauseView[]> {
  const waits = await run.look((fold) =>
    fold.openWaits().map(({ record, pause }) => ({
      views: viewsOf(fold.runId, record, pause),
      childId: leavesPausesOut(pause.request) ? String(pause.request['runId']) : null,
    })),
  );
  const lists: (readonly PauseView[])[] = [];
  for (const { views, childId } of waits) {
    const child = childId === null ? null : await run.openChildren.owning(childId);
    lists.push(child === null ? views : await child.executor.pauses());
  }
  return lists.flat();
}

/** The position whose child run has paused its engine checks with this event, or null. */
export function checkedChildAt(fold: RunFold, preflightEventId: string): string | null {
  for (const { record, pause } of fold.openWaits()) {
    const { request } = pause;
    const views = [{ request }, ...childPauses(request['pauses'])];
    const isChild = request.kind === 'child';
    const names = (view: Pick<PauseView, 'request'>) =>
      view.request['preflightEventId'] === preflightEventId;
    if (isChild && views.some(names)) return record.position;
  }
  return null;
}

/** What `run` returns when only pauses are left. */
export function pauseResult(fold: RunFold, reason: string | null): RunPaused {
  const pauses = openPauses(fold);
  const wakeAt = fold.positions.nextDue();
  return {
    kind: 'pause',
    reason: reason ?? firstReason(fold) ?? 'The graph has paused.',
    pauses,
    ...(wakeAt === null ? {} : { wakeAt }),
  };
}

function firstReason(fold: RunFold): string | undefined {
  for (const record of fold.positions.with('paused')) return record.pause?.reason;
  return undefined;
}

function viewsOf(runId: string, record: PositionRecord, pause: OpenPause): readonly PauseView[] {
  const inner = childPauses(pause.request['pauses']);
  if (pause.request.kind === 'child' && inner.length > 0) return inner;
  return [
    {
      pauseId: pause.pauseId,
      runId,
      nodeId: record.nodeId,
      position: record.position,
      reason: pause.reason,
      request: pause.request,
      ...(record.dueAt === null ? {} : { dueAt: record.dueAt }),
    },
  ];
}

function childPauses(value: JsonValue | undefined): readonly PauseView[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject) as unknown as readonly PauseView[];
}
