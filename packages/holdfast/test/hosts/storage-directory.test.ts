/** Where a local storage stands: at the directory that was named when it was created. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalRunStorage } from 'holdfast/storage/local';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(root, { recursive: true, force: true });
});

test('a relative directory is the one it was when the storage was created', async () => {
  const [here, there] = [join(root, 'here'), join(root, 'there')];
  for (const each of [here, there]) mkdirSync(each);
  // A test worker cannot change its directory: what the process says of it is changed instead.
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(here);
  const directory = 'runs';
  const storage = createLocalRunStorage({ directory, namespace: 'test' });
  cwd.mockReturnValue(there);
  await storage.leaseStore.acquire(
    'k',
    { id: 'o', host: 'h', bootId: 'b', pidNamespace: 'n', pid: 1, startTime: 's' },
    1_000,
    { takeover: 'never' },
  );
  await storage.close();
  expect(existsSync(join(here, directory, 'holdfast.db'))).toBe(true);
});
