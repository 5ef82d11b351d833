/** The closed list of ways in which an engine fails, and what each says about its lane. */

export const ENGINE_FAILURE_KINDS = [
  'auth',
  'billing',
  'missing-cli',
  'model-unavailable',
  'invalid-config',
  'quota',
  'rate-limit',
  'transient',
  'timeout',
  'aborted',
  'unknown',
] as const;

/** Why an engine failed. What nobody has named is `unknown`. */
export type EngineFailureKind = (typeof ENGINE_FAILURE_KINDS)[number];

/** The failures that prove a lane dead: only these move a call to a fallback. */
export const LANE_DEAD_FAILURES: ReadonlySet<EngineFailureKind> = new Set([
  'auth',
  'billing',
  'missing-cli',
  'model-unavailable',
  'invalid-config',
  'quota',
] as const);

/** True for a kind of the closed list. */
export function isEngineFailureKind(value: unknown): value is EngineFailureKind {
  return ENGINE_FAILURE_KINDS.includes(value as EngineFailureKind);
}
