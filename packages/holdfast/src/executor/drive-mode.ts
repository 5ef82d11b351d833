/** How a drive goes on. */

/**
 * `normal` · `halting`: the caller's signal was aborted · `draining`: a shutdown · `failing`: the
 * executor cannot go on. Only `normal` asks the graph and starts attempts.
 */
export type DriveMode = 'normal' | 'halting' | 'draining' | 'failing';
