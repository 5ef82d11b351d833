/**
 * Recorded sub-steps, by the first position of their occurrence: a policy retry is given the
 * steps that an earlier attempt recorded. Steps of a completed occurrence are forgotten.
 */
import type { StepRecord } from './position-record.ts';

type SavedSteps = readonly (readonly [string, readonly (readonly [string, StepRecord])[]])[];

export class StepBook {
  readonly #steps: Map<string, Map<string, StepRecord>>;

  constructor(saved: SavedSteps = []) {
    this.#steps = new Map(saved.map(([first, steps]) => [first, new Map(steps)]));
  }

  get(firstPosition: string, step: string): StepRecord | undefined {
    return this.#steps.get(firstPosition)?.get(step);
  }

  /** Names of steps that were started and have no record: nobody knows what they did. */
  uncertain(firstPosition: string): string[] {
    const steps = this.#steps.get(firstPosition) ?? new Map<string, StepRecord>();
    return [...steps].filter(([, record]) => record.kind === 'started').map(([name]) => name);
  }

  /** False when the step is recorded or started already. */
  start(firstPosition: string, step: string): boolean {
    const steps = this.#of(firstPosition);
    if (steps.get(step)?.kind === 'completed' || steps.get(step)?.kind === 'started') return false;
    steps.set(step, { kind: 'started' });
    return true;
  }

  record(firstPosition: string, step: string, outcome: StepRecord): void {
    this.#of(firstPosition).set(step, outcome);
  }

  /** Lets an uncertain step run again. False when it is not uncertain. */
  retry(firstPosition: string, step: string): boolean {
    if (this.get(firstPosition, step)?.kind !== 'started') return false;
    this.#of(firstPosition).delete(step);
    return true;
  }

  /** A resumed attempt may run every step again that has no result. */
  allowAgain(firstPosition: string): void {
    const steps = this.#steps.get(firstPosition);
    if (steps === undefined) return;
    for (const name of this.uncertain(firstPosition)) steps.delete(name);
  }

  forget(firstPosition: string): void {
    this.#steps.delete(firstPosition);
  }

  save(): SavedSteps {
    return [...this.#steps].map(([first, steps]) => [first, [...steps]] as const);
  }

  #of(firstPosition: string): Map<string, StepRecord> {
    let steps = this.#steps.get(firstPosition);
    if (steps === undefined) {
      steps = new Map();
      this.#steps.set(firstPosition, steps);
    }
    return steps;
  }
}
