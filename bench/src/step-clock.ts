/** Notes when the code of each step is called. */
export class StepClock {
  #times: number[] = [];

  tick(): void {
    this.#times.push(performance.now());
  }

  /** Lets go of what was noted. */
  clear(): void {
    this.#times = [];
  }

  get count(): number {
    return this.#times.length;
  }

  /** Milliseconds from each step's code to the next one's. */
  stepMs(): number[] {
    return this.#times.slice(1).map((time, place) => time - (this.#times[place] ?? time));
  }
}
