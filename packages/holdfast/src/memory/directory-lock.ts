/**
 * The lock that changes of one directory take, between all processes of one machine.
 *
 * A ticket is a directory that holds one socket, at which its process listens. Whoever moves its
 * ticket to the name of the lock holds it: a directory takes the place of an empty one or of none,
 * never of one that holds something. The others connect to the holder's socket, and so hear when
 * it lets go; where nobody listens the holder is dead, and its socket is removed.
 *
 * Invariants: a socket is listened at before it is in the lock and until it is out again, so that
 * no holder is taken for dead; a socket's name is used once, so that who removes a dead one cannot
 * hit the next; nothing but the system's word ends the lock of another, no time that has passed.
 */
import { lstat, mkdtemp, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type AnchoredDirectory, systemCode } from './anchored-directory.ts';
import { UNFINISHED } from './disk-walk.ts';
import { LockSocket, PIPES, waitForListener } from './lock-socket.ts';

/** Hidden, so no path of a memory reaches it; there only while a change is made. */
export const LOCK: string = `${UNFINISHED}lock`;

/** How often others may come first. Each time one of them has made its change. */
const TURNS = 1_000;
/** Codes of a move to the lock's name when something stands there. */
const TAKEN: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR']);

/** Thrown when another keeps the lock for longer than one waits. */
export class LockHeld extends Error {
  /** The number of the process, as its own system counts; null where it is not known. */
  readonly pid: number | null;

  constructor(pid: number | null) {
    super('the lock is held');
    this.pid = pid;
  }
}

/** One who wants the lock, or has it. */
interface Ticket {
  /** False where another has the lock. */
  take(): Promise<boolean>;
  /** Waits until the lock may be free. Throws `LockHeld`. */
  waitForHolder(waitMs: number): Promise<void>;
  /** Gives the lock back, or gives up to wait for it. */
  leave(): Promise<void>;
}

/** Does `work` while nobody else has the lock. Throws `LockHeld`, and what the system says. */
export async function holdingLock<T>(
  root: AnchoredDirectory,
  waitMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const ticket = await (process.platform === 'win32' ? PipeTicket : SocketTicket).make(root);
  try {
    for (let turn = 1; !(await ticket.take()); turn += 1) {
      if (turn > TURNS) throw new LockHeld(null);
      await ticket.waitForHolder(waitMs);
    }
    return await work();
  } finally {
    await ticket.leave();
  }
}

class SocketTicket implements Ticket {
  readonly #root: AnchoredDirectory;
  readonly #socketName: string;
  readonly #socket: LockSocket;
  /** Where the socket's directory stands: under its own name, or as the lock. */
  #place: string;

  private constructor(root: AnchoredDirectory, place: string, socket: LockSocket) {
    this.#root = root;
    this.#place = place;
    this.#socketName = socketNameOf(place);
    this.#socket = socket;
  }

  static async make(root: AnchoredDirectory): Promise<SocketTicket> {
    const place = basename(await mkdtemp(root.at(`${UNFINISHED}${process.pid}-`)));
    try {
      const socket = await LockSocket.listen(root.at(join(place, socketNameOf(place))));
      return new SocketTicket(root, place, socket);
    } catch (error) {
      await rmdir(root.at(place));
      throw error;
    }
  }

  async take(): Promise<boolean> {
    try {
      await rename(this.#root.at(this.#place), this.#root.at(LOCK));
      this.#place = LOCK;
      return true;
    } catch (error) {
      if (TAKEN.has(systemCode(error))) return false;
      throw error;
    }
  }

  async waitForHolder(waitMs: number): Promise<void> {
    let lock: AnchoredDirectory;
    try {
      lock = await this.#root.child(LOCK);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return;
      throw error;
    }
    try {
      for (const entry of await lock.entries()) {
        const { name } = entry;
        const holder = entry.isSocket() ? await waitForListener(lock.at(name), waitMs) : 'dead';
        if (holder === 'stays') throw new LockHeld(pidIn(name));
        if (holder === 'dead') await lock.remove(name);
      }
    } finally {
      await lock.close();
    }
  }

  async leave(): Promise<void> {
    try {
      await unlink(this.#root.at(join(this.#place, this.#socketName)));
      await rmdir(this.#root.at(this.#place));
    } catch {
      // The next one's lock stands there already; or the disk fails, and the closed socket tells
      // the next one that this one is gone.
    } finally {
      this.#socket.close();
    }
  }
}

/** On Windows a pipe's name belongs to one process: to listen at it is to have the lock. */
class PipeTicket implements Ticket {
  readonly #pipe: string;
  #socket: LockSocket | null = null;

  private constructor(pipe: string) {
    this.#pipe = pipe;
  }

  static async make(root: AnchoredDirectory): Promise<PipeTicket> {
    const { dev, ino } = await lstat(root.at('.'), { bigint: true });
    return new PipeTicket(`${PIPES}holdfast-memory-${dev}-${ino}`);
  }

  async take(): Promise<boolean> {
    try {
      this.#socket = await LockSocket.listen(this.#pipe);
      return true;
    } catch (error) {
      if (systemCode(error) === 'EADDRINUSE') return false;
      throw error;
    }
  }

  async waitForHolder(waitMs: number): Promise<void> {
    if ((await waitForListener(this.#pipe, waitMs)) === 'stays') throw new LockHeld(null);
  }

  async leave(): Promise<void> {
    this.#socket?.close();
  }
}

/** The name of the one socket in a ticket: the process, and letters that nobody else has. */
function socketNameOf(ticket: string): string {
  return ticket.slice(UNFINISHED.length);
}

function pidIn(socketName: string): number | null {
  const pid = Number.parseInt(socketName, 10);
  return Number.isSafeInteger(pid) ? pid : null;
}
