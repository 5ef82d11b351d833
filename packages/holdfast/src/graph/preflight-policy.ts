/** The preflight policy of a plan: how the lanes are checked before anything runs. */
import type { JsonValue } from '../base/json.ts';
import { isPositiveInteger, type ShapeCheck, shown } from './shape-check.ts';

/** How one lane is checked. */
export interface PreflightLanePolicy {
  readonly laneId: string;
  /** Whether the lane is called once for real. */
  readonly live: 'required' | 'skip';
  /** What to do when the engine cannot check itself without a call. */
  readonly unsupportedStatic: 'block' | 'allow';
}

/** `timeoutMs`: 1 to 2147483647; every lane of the plan stands in `lanes` exactly once. */
export interface RunPreflightPolicy {
  readonly timeoutMs: number;
  readonly lanes: readonly PreflightLanePolicy[];
}

const MAX_TIMEOUT_MS = 2_147_483_647;
const LANE_FIELDS = { required: ['laneId', 'live', 'unsupportedStatic'] };

/** Notes what is wrong with a policy for exactly these lanes. */
export function checkPreflightPolicy(
  value: JsonValue,
  laneIds: ReadonlySet<string>,
  check: ShapeCheck,
): void {
  const policy = check.object(value, '/preflight', { required: ['timeoutMs', 'lanes'] });
  if (policy === undefined) return;
  const timeout = policy['timeoutMs'];
  if (timeout !== undefined && (!isPositiveInteger(timeout) || timeout > MAX_TIMEOUT_MS)) {
    const message = `expected milliseconds from 1 to ${MAX_TIMEOUT_MS}, found ${shown(timeout)}`;
    check.note('INVALID_BOUND', '/preflight/timeoutMs', message);
  }
  const named = check.list(policy['lanes'], '/preflight/lanes').map(([entry, at]) => {
    const lane = check.object(entry, at, LANE_FIELDS);
    check.oneOf(lane?.['live'], `${at}/live`, ['required', 'skip'], 'INVALID_SHAPE');
    const fallback = lane?.['unsupportedStatic'];
    check.oneOf(fallback, `${at}/unsupportedStatic`, ['block', 'allow'], 'INVALID_SHAPE');
    return [check.id(lane?.['laneId'], `${at}/laneId`), `${at}/laneId`] as const;
  });
  checkCoverage(
    named,
    laneIds,
    { list: '/preflight/lanes', duplicate: 'INVALID_LANE_RESOLUTION' },
    check,
  );
}

/** Notes lanes that are named twice, unknown or missing in a list that must name each once. */
export function checkCoverage(
  named: readonly (readonly [string | undefined, string])[],
  laneIds: ReadonlySet<string>,
  at: { readonly list: string; readonly duplicate: string },
  check: ShapeCheck,
): void {
  check.unique(named, at.duplicate);
  for (const [id, path] of named) {
    if (id === undefined || laneIds.has(id)) continue;
    const message = `there is no execution lane ${shown(id)}`;
    check.note('INVALID_LANE_RESOLUTION', path, message);
  }
  const found = new Set(named.map(([id]) => id));
  for (const id of laneIds) {
    if (found.has(id)) continue;
    check.note('INVALID_LANE_RESOLUTION', at.list, `the lane ${shown(id)} is missing`);
  }
}
