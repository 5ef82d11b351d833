/** Reads the issues of a refusal. */
import { GraphValidationError } from 'holdfast/graph';
import { expect } from 'vitest';

/** `CODE /path` of every issue that `run` is refused with. */
export function issuesOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(GraphValidationError);
    if (error instanceof GraphValidationError) {
      expect(error.name).toBe('GraphValidationError');
      return error.issues.map(({ code, path }) => `${code} ${path}`);
    }
  }
  return [];
}
