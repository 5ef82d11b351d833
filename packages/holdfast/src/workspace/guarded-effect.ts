/**
 * Runs an effect and looks after its workspace policy.
 *
 * Invariant: the worktree is inspected again however the effect ends, also when it was aborted:
 * what an attempt did to it outranks what the attempt says of itself.
 */
import { HoldfastError, isHoldfastError } from '../base/errors.ts';
import { truncateText } from '../base/text.ts';
import type { WorkspaceChanges, WorkspaceInspector } from './workspace-inspection.ts';
import {
  foreignPaths,
  type InspectedWorkspacePolicy,
  type NodeWorkspacePolicy,
} from './workspace-policy.ts';

/** How much an attempt may change; what is absent is not limited. */
export interface WorkspaceLimits {
  readonly filesChanged?: number;
  /** Lines added and removed: see `WorkspaceChanges.linesChanged`. */
  readonly linesChanged?: number;
}

export interface WorkspaceGuard {
  readonly policy: NodeWorkspacePolicy;
  readonly limits: WorkspaceLimits;
  readonly inspector: WorkspaceInspector;
  /** Ends the inspection before the effect. The effect has to observe its own. */
  readonly signal: AbortSignal;
  /**
   * Ends the inspection after the effect. It is another than `signal`, which an attempt that ran
   * out of time has aborted already; without it only the inspector's own bounds hold.
   */
  readonly exitSignal?: AbortSignal;
}

type Settled<Result> =
  | { readonly isDone: true; readonly result: Result }
  | { readonly isDone: false; readonly error: unknown };

const MAX_NAMED_PATHS = 5;
const MAX_PATH_LENGTH = 120;

/**
 * What `effect` returns or throws, unless its changes break the policy: then `WORKSPACE_VIOLATION`
 * (a path that is not allowed; in mode `read` any) or `WORKSPACE_LIMIT` (more than the limits
 * allow) is thrown instead, the error of the effect as its cause. Mode `none` inspects nothing.
 * Throws also `WORKSPACE_INSPECTION`, and `ABORTED` when `signal` is aborted before the effect
 * starts. Changes that others make meanwhile count as those of the effect.
 *
 * @example
 * await underWorkspacePolicy({ policy, limits: { filesChanged: 20 }, inspector, signal }, () =>
 *   callEngine(),
 * );
 */
export async function underWorkspacePolicy<Result>(
  guard: WorkspaceGuard,
  effect: () => Result | Promise<Result>,
): Promise<Result> {
  const { policy, inspector, signal } = guard;
  if (policy.mode === 'none') return effect();
  const before = await inspector.capture(policy.directory, signal);
  const settled = await settle(effect);
  try {
    const exitSignal = guard.exitSignal ?? new AbortController().signal;
    const after = await inspector.capture(policy.directory, exitSignal, before);
    const changes = await inspector.compare(before, after, exitSignal);
    requireAllowed(policy, changes);
    requireWithin(guard.limits, changes);
  } catch (error) {
    throw settled.isDone ? error : withCause(error, settled.error);
  }
  if (settled.isDone) return settled.result;
  throw settled.error;
}

async function settle<Result>(effect: () => Result | Promise<Result>): Promise<Settled<Result>> {
  try {
    return { isDone: true, result: await effect() };
  } catch (error) {
    return { isDone: false, error };
  }
}

function requireAllowed(policy: InspectedWorkspacePolicy, changes: WorkspaceChanges): void {
  const foreign = foreignPaths(policy, changes.paths);
  if (foreign.length === 0) return;
  const named = foreign
    .slice(0, MAX_NAMED_PATHS)
    .map((path) => truncateText(path, MAX_PATH_LENGTH));
  const others = foreign.length > named.length ? ` and ${foreign.length - named.length} more` : '';
  const shown = `${named.map((path) => JSON.stringify(path)).join(', ')}${others}`;
  const rule = policy.mode === 'read' ? 'may only read' : 'may change only what its globs name';
  const text = `The attempt changed ${shown} in ${policy.directory}, where it ${rule}.`;
  throw new HoldfastError('WORKSPACE_VIOLATION', text, { paths: named, count: foreign.length });
}

function requireWithin(limits: WorkspaceLimits, changes: WorkspaceChanges): void {
  const { filesChanged, linesChanged } = changes;
  const most = {
    filesChanged: limits.filesChanged ?? Number.POSITIVE_INFINITY,
    linesChanged: limits.linesChanged ?? Number.POSITIVE_INFINITY,
  };
  if (filesChanged <= most.filesChanged && linesChanged <= most.linesChanged) return;
  const { filesChanged: files = 'any number of', linesChanged: lines = 'any number of' } = limits;
  const done = `The attempt changed ${filesChanged} files and ${linesChanged} lines`;
  const text = `${done}; allowed are ${files} files and ${lines} lines.`;
  throw new HoldfastError('WORKSPACE_LIMIT', text, { filesChanged, linesChanged, limits });
}

/** The same error, caused by the failure of the effect that it stands in place of. */
function withCause(error: unknown, cause: unknown): unknown {
  if (!isHoldfastError(error)) return error;
  return new HoldfastError(error.code, error.message, error.details, cause);
}
