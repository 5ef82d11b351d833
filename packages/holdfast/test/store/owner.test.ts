import { spawn } from 'node:child_process';
import { currentOwner, isProvenDead, type OwnerIdentity } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { type ProcessTable, systemProcessTable } from '../../src/process/owner.ts';

const owner: OwnerIdentity = {
  id: 'worker',
  host: 'host',
  bootId: 'boot-1',
  pidNamespace: 'pid:[1]',
  pid: 42,
  startTime: '100',
};

function table(
  changed: Partial<ProcessTable> = {},
  startTime: string | null = '100',
): ProcessTable {
  const same = { host: 'host', bootId: 'boot-1', pidNamespace: 'pid:[1]' };
  return { ...same, startTime: () => startTime, ...changed };
}

describe('an owner', () => {
  it.each<[string, boolean, Partial<OwnerIdentity>, ProcessTable]>([
    ['runs', false, {}, table()],
    ['is gone', true, {}, table({}, null)],
    ['had a pid that another process has now', true, {}, table({}, '101')],
    ['ran before the last boot', true, {}, table({ bootId: 'boot-2' })],
    ['is of another host', false, {}, table({ host: 'other' }, null)],
    ['is of another host and boot', false, {}, table({ host: 'other', bootId: 'boot-2' })],
    ['is of another pid namespace', false, {}, table({ pidNamespace: 'pid:[2]' }, null)],
    ['is of another boot and namespace', false, {}, table({ bootId: 'b', pidNamespace: 'p' })],
    [
      'has an unknown pid namespace',
      false,
      { pidNamespace: 'unknown' },
      table({ pidNamespace: 'unknown' }, null),
    ],
    ['has an unknown boot', false, { bootId: 'unknown' }, table({}, null)],
    ['is on a machine of unknown boot', false, {}, table({ bootId: 'unknown' }, null)],
    ['started at an unknown time', false, { startTime: 'unknown' }, table()],
    ['cannot be looked up', false, {}, table({}, 'unknown')],
  ])('that %s: proven dead is %s', (_, dead, changed, machine) => {
    expect(isProvenDead({ ...owner, ...changed }, machine)).toBe(dead);
  });

  it.runIf(process.platform === 'linux')(
    'of a real process is dead once it has ended',
    async () => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
        stdio: 'ignore',
      });
      const pid = child.pid ?? 0;
      const real = {
        ...currentOwner('child'),
        pid,
        startTime: systemProcessTable().startTime(pid) ?? '',
      };
      expect(isProvenDead(real)).toBe(false);
      expect(isProvenDead({ ...real, startTime: '1' })).toBe(true);
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGKILL');
      await closed;
      expect(isProvenDead(real)).toBe(true);
      expect(isProvenDead(currentOwner('me'))).toBe(false);
    },
  );
});
