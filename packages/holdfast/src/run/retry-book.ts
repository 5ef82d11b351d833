/**
 * Which occurrences may be tried again: those whose last attempt has failed, by their first
 * position. An occurrence that was completed, or is being tried, is none of them.
 */

type SavedRetries = readonly (readonly [firstPosition: string, nodeId: string])[];

/** What a dispatch says that it is. */
interface RetryClaim {
  readonly nodeId: string;
  readonly position: string;
  readonly retryOf?: string;
}

export class RetryBook {
  readonly #failed: Map<string, string>;

  constructor(saved: SavedRetries = []) {
    this.#failed = new Map(saved);
  }

  /** Why this dispatch is no retry of what it names, or null. */
  fault(
    { nodeId, position, retryOf }: RetryClaim,
    wasDispatched: (position: string) => boolean,
  ): string | null {
    if (retryOf === undefined) return null;
    const failed = this.#failed.get(retryOf);
    if (failed === nodeId) return null;
    const claim = `${position} retries ${retryOf}, which`;
    if (failed !== undefined) return `${claim} is an occurrence of ${failed}, not of ${nodeId}`;
    if (!wasDispatched(retryOf)) return `${claim} was never dispatched`;
    return `${claim} is not the first position of an occurrence whose last attempt has failed`;
  }

  /** An attempt of the occurrence is dispatched. */
  tried(firstPosition: string): void {
    if (this.#failed.size > 0) this.#failed.delete(firstPosition);
  }

  failed(firstPosition: string, nodeId: string): void {
    this.#failed.set(firstPosition, nodeId);
  }

  save(): SavedRetries {
    return [...this.#failed];
  }
}
