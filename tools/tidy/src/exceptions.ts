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

const systemClock = 'packages/holdfast/src/store/system-clock.ts';

export const exceptions: readonly Exception[] = [
  ...['Date.now', 'setTimeout', 'setImmediate'].map(
    (subject): Exception => ({
      rule: 'banned-call',
      path: systemClock,
      subject,
      reason: 'It is the Clock port over the real machine.',
    }),
  ),
  {
    rule: 'banned-call',
    path: 'packages/holdfast/src/store/system-ids.ts',
    subject: 'crypto.randomUUID',
    reason: 'It is the Ids port over the machine.',
  },
  {
    rule: 'banned-call',
    path: 'packages/holdfast/src/testing/fake-clock.ts',
    subject: 'setImmediate',
    reason: 'It is the Clock port of tests: it lets every promise settle between two callbacks.',
  },
  {
    rule: 'banned-call',
    path: 'packages/holdfast/src/adapters/sqlite/storage.ts',
    subject: 'performance.now',
    reason: 'It is the default of a port that measures syncs; nothing recorded depends on it.',
  },
  {
    rule: 'banned-call',
    path: 'packages/holdfast/src/process/owner.ts',
    subject: 'randomUUID',
    reason: 'An owner is new with every call: it has no position that its id could come from.',
  },
  {
    rule: 'import-table',
    path: 'packages/holdfast/src/store/host-hash.ts',
    subject: 'node:crypto',
    reason: 'It is the fast HashText of Node, given to pure rooms in place of the portable one.',
  },
  {
    rule: 'file-length',
    path: 'packages/holdfast/src/base/error-codes.ts',
    reason: 'It is one closed table, read as a list and rendered as a page.',
  },
  {
    rule: 'default-export',
    path: 'packages/holdfast/src/workspace/picomatch.d.ts',
    reason: 'It describes a CommonJS package, which is its one export.',
  },
  {
    rule: 'default-export',
    path: 'vitest.config.ts',
    reason: 'vitest reads its configuration from the default export.',
  },
];
