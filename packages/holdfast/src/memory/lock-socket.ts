/**
 * A local socket as a sign of life: who listens at it lives, and the system ends the listening of a
 * process with the process itself, however that ends.
 *
 * Invariant: nothing is ever sent or read through it.
 */
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { systemCode } from './anchored-directory.ts';

/** What has become of whoever listened at an address. */
export type Listener =
  /** Nobody listens there: whoever did is dead. */
  | 'dead'
  /** It has let go, or it is worth to look again. */
  | 'left'
  /** It lives, and has not let go in time. */
  | 'stays';

/** The longest address that every system takes. */
const MAX_ADDRESS_BYTES = 100;
/** The pipes of Windows have names of their own, not paths. */
export const PIPES = '\\\\.\\pipe\\';
/** `EAGAIN`: it lives, but too many wait already. */
const WORTH_ANOTHER_LOOK: ReadonlySet<string> = new Set(['ENOENT', 'EAGAIN', 'ECONNRESET']);

export class LockSocket {
  readonly #server: Server;
  readonly #waiting: ReadonlySet<Socket>;

  private constructor(server: Server, waiting: ReadonlySet<Socket>) {
    this.#server = server;
    this.#waiting = waiting;
  }

  /** Listens at `path`. Throws what the system says, `EADDRINUSE` where something stands. */
  static async listen(path: string): Promise<LockSocket> {
    const waiting = new Set<Socket>();
    const server = createServer((socket) => {
      waiting.add(socket);
      socket.on('error', () => {}).on('close', () => waiting.delete(socket));
    });
    await withAddress(path, (address) => {
      return new Promise<void>((resolve, reject) => {
        // Exclusive: a worker of a cluster listens itself, and not its primary for it.
        server.on('error', reject).listen({ path: address, exclusive: true }, resolve);
      });
    });
    return new LockSocket(server, waiting);
  }

  /** Lets go, and so wakes those who wait. */
  close(): void {
    this.#server.close();
    for (const socket of this.#waiting) socket.destroy();
  }
}

/** Waits until nobody listens at `path` any more, at most `waitMs`. Throws what the system says. */
export function waitForListener(path: string, waitMs: number): Promise<Listener> {
  return withAddress(path, (address) => {
    return new Promise<Listener>((resolve, reject) => {
      const socket = createConnection(address);
      const end = (listener: Listener): void => {
        socket.destroy();
        resolve(listener);
      };
      socket.setTimeout(waitMs, () => end('stays'));
      socket
        .on('close', () => end('left'))
        .on('error', (error) => {
          const code = systemCode(error);
          if (code === 'ECONNREFUSED') end('dead');
          else if (!WORTH_ANOTHER_LOOK.has(code)) reject(error);
        });
      socket.resume();
    });
  });
}

/**
 * Uses `path` as the address of a socket. One that is too long for that is reached by a link of
 * our own, which does not come with a path from an open directory (see `AnchoredDirectory`).
 */
async function withAddress<T>(path: string, use: (address: string) => Promise<T>): Promise<T> {
  if (path.startsWith(PIPES) || Buffer.byteLength(path) <= MAX_ADDRESS_BYTES) return use(path);
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-'));
  const link = join(directory, 'd');
  try {
    await symlink(dirname(path), link);
    return await use(join(link, basename(path)));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
