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
  readonly #expected: Map<string, DispatchCommand>;
  #recorded = 0;

  constructor(decidedAt: number, commands: readonly GraphCommand[]) {
    this.decidedAt = decidedAt;
    this.#expected = new Map();
    for (const command of commands) {
      if (command.kind === 'dispatch') this.#expected.set(command.position, command);
    }
  }

  /** Takes one recorded dispatch and returns the command it stands for. */
  take(payload: EventPayloads['graph:node-dispatched'], digest: MerkleDigest): DispatchCommand {
    const command = this.#expected.get(payload.position);
    if (command === undefined) return violation(payload.position, 'the graph does not decide it');
    const { nodeId, retryOf, input } = command;
    if (nodeId !== payload.nodeId) violation(payload.position, `the graph decides node ${nodeId}`);
    if (retryOf !== payload.retryOf) violation(payload.position, `it retries ${retryOf}`);
    const inputDigest = digest.digest(input);
    if (inputDigest !== payload.inputDigest) {
      violation(payload.position, `its input now has digest ${inputDigest}`, payload.inputDigest);
    }
    this.#expected.delete(payload.position);
    this.#recorded += 1;
    return command;
  }

  /** Takes a dispatch that is being recorded just now, from this very decision. */
  accept(position: string): void {
    this.#expected.delete(position);
    this.#recorded += 1;
  }

  /** Dispatches that were decided together with recorded ones and are not recorded themselves. */
  missing(): readonly DispatchCommand[] {
    return this.#recorded === 0 ? [] : [...this.#expected.values()];
  }
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
