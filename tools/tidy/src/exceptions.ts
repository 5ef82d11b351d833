/**
 * Files and functions that may break one rule, each by name and with its reason.
 *
 * An exception that nothing needs any more is itself a finding, so the list can only shrink.
 */
import type { RuleName } from './finding.ts';

export interface Exception {
  readonly rule: RuleName;
  readonly path: string;
  /** The function, call or name that is excepted; without it, the rule is off for the file. */
  readonly subject?: string;
  readonly reason: string;
}

export const exceptions: readonly Exception[] = [
  {
    rule: 'default-export',
    path: 'vitest.config.ts',
    reason: 'vitest reads its configuration from the default export.',
  },
];
