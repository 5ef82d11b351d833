/**
 * One decision, asked again at the place where it was made: every dispatch that was recorded of
 * it must be what the graph decides now.
 */
import type { MerkleDigest, Sha256Digest } from '../base/digest.ts';
import type { DispatchCommand, GraphCommand } from '../graph/commands.ts';
import type { EventPayloads } from '../history/catalog.ts';
import { GraphExecutionError } from './run-error.ts';

export class DecisionCheck {
  /** The sequence of the last event folded before `decide` was asked. */
  readonly decidedAt: number;
  readonly #dispatches: readonly DispatchCommand[];
  /** How many of them are recorded: they are recorded in the order in which they were decided. */
  #recorded = 0;

  constructor(decidedAt: number, commands: readonly GraphCommand[]) {
    this.decidedAt = decidedAt;
    this.#dispatches = dispatchesOf(commands);
  }

  /** Takes one recorded dispatch and returns the command it stands for. */
  take(payload: EventPayloads['graph:node-dispatched'], digest: MerkleDigest): DispatchCommand {
    const command = this.#dispatches[this.#recorded];
    if (command?.position !== payload.position) return this.#notDecided(payload.position);
    const { nodeId, retryOf, input } = command;
    if (nodeId !== payload.nodeId) violation(payload.position, `the graph decides node ${nodeId}`);
    if (retryOf !== payload.retryOf) violation(payload.position, `it retries ${retryOf}`);
    const inputDigest = digest.digest(input);
    if (inputDigest !== payload.inputDigest) {
      violation(payload.position, `its input now has digest ${inputDigest}`, payload.inputDigest);
    }
    this.#recorded += 1;
    return command;
  }

  /** Takes the next dispatch, which is being recorded just now, from this very decision. */
  accept(): void {
    this.#recorded += 1;
  }

  /** Dispatches that were decided together with recorded ones and are not recorded themselves. */
  missing(): readonly DispatchCommand[] {
    const { length } = this.#dispatches;
    return this.#recorded === 0 || this.#recorded === length
      ? NONE
      : this.#dispatches.slice(this.#recorded);
  }

  #notDecided(position: string): never {
    const next = this.#dispatches[this.#recorded]?.position;
    const instead = next === undefined ? '' : ` there, it decides ${next}`;
    return violation(position, `the graph does not decide it${instead}`);
  }
}

const NONE: readonly DispatchCommand[] = Object.freeze([]);

function dispatchesOf(commands: readonly GraphCommand[]): readonly DispatchCommand[] {
  const [first] = commands;
  // A decision is either dispatches or one other command.
  return first?.kind === 'dispatch' ? (commands as readonly DispatchCommand[]) : NONE;
}

/** Throws `DETERMINISM_VIOLATION` naming the position. */
export function violation(position: string, what: string, recorded?: Sha256Digest): never {
  throw new GraphExecutionError(
    'DETERMINISM_VIOLATION',
    `The recorded dispatch of ${position} does not follow from the events before it: ${what}` +
      `${recorded === undefined ? '' : `, not ${recorded}`}.`,
    { position },
  );
}
