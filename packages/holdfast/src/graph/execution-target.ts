/** Execution targets and lanes: which engine, provider and model a node asks for. */
import { canonicalText } from '../base/digest.ts';
import type { JsonValue } from '../base/json.ts';
import type { ShapeCheck } from './shape-check.ts';

/** One exact way to execute. `tools` are distinct. */
export interface ExecutionTarget {
  readonly adapter: string;
  readonly provider: string;
  readonly modelFamily: string;
  readonly model: string;
  readonly tools: readonly string[];
}

/** A lane as a graph declares it: what it asks for and what may stand in for that. */
export interface ExecutionLaneDescription {
  readonly id: string;
  readonly requested: ExecutionTarget;
  readonly knownSubstitutions: readonly ExecutionTarget[];
}

const TARGET_TEXTS = ['adapter', 'provider', 'modelFamily', 'model'] as const;
const TARGET_FIELDS = { required: [...TARGET_TEXTS, 'tools'] };
const LANE_FIELDS = { required: ['id', 'requested', 'knownSubstitutions'] };

/** Checks one target. Tools must be distinct texts. */
export function checkTarget(value: unknown, path: string, check: ShapeCheck): void {
  const target = check.object(value, path, TARGET_FIELDS);
  if (target === undefined) return;
  for (const name of TARGET_TEXTS) check.text(target[name], `${path}/${name}`);
  const tools = check.list(target['tools'], `${path}/tools`);
  const texts = tools.map(([tool, at]) => [check.text(tool, at), at] as const);
  check.unique(texts, 'DUPLICATE_ID');
}

/** Checks the targets that may stand in for a lane's own: each valid, no two equal. */
function checkSubstitutions(value: unknown, path: string, check: ShapeCheck): void {
  const targets = check.list(value, path);
  for (const [target, at] of targets) checkTarget(target, at, check);
  const texts = targets.map(([target, at]) => [canonicalText(target), at] as const);
  check.unique(texts, 'DUPLICATE_SUBSTITUTION');
}

/** Checks one lane as a graph declares it. */
export function checkLane(
  value: unknown,
  path: string,
  check: ShapeCheck,
): ExecutionLaneDescription | undefined {
  const before = check.issues.length;
  const lane = check.object(value, path, LANE_FIELDS);
  check.id(lane?.['id'], `${path}/id`);
  if (lane?.['requested'] !== undefined) checkTarget(lane['requested'], `${path}/requested`, check);
  checkSubstitutions(lane?.['knownSubstitutions'], `${path}/knownSubstitutions`, check);
  const wellFormed = check.issues.length === before;
  return wellFormed ? (lane as unknown as ExecutionLaneDescription) : undefined;
}

/** True when both lanes are described the same. */
export function sameLane(a: ExecutionLaneDescription, b: ExecutionLaneDescription): boolean {
  return canonicalText(a as unknown as JsonValue) === canonicalText(b as unknown as JsonValue);
}
