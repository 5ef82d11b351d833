/** The open pauses of a run as its caller sees them; a child's stand in its parent's pause. */
import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { OpenPause, PositionRecord } from '../run/position-record.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { PauseView, RunPaused } from '../run/run-result.ts';

/** Every open pause, in the order of pausing; those of child runs in place of their parent's. */
export function openPauses(fold: RunFold): readonly PauseView[] {
  return fold.openWaits().flatMap(({ record, pause }) => viewsOf(fold.runId, record, pause));
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
