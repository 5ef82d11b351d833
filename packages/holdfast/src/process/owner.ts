/**
 * Who this process is, and whether another process is proven dead.
 *
 * Invariant: proof needs certainty. An owner of another host, of another or an unknown pid
 * namespace, or whose start time cannot be read, is never proven dead; it may be running.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { OwnerIdentity } from '../base/owner-identity.ts';

/** Stands where the system does not say. */
const UNKNOWN = 'unknown';
/** The start time in `/proc/<pid>/stat`, counted from the field after the name. */
const START_TIME_FIELD = 19;

/** What the proof asks of the machine; a port, so that other machines can be played. */
export interface ProcessTable {
  readonly host: string;
  /** Changes with every boot; `unknown` where the system does not tell. */
  readonly bootId: string;
  readonly pidNamespace: string;
  /** The start time of a live process; null = there is none; `unknown` = cannot tell. */
  startTime(pid: number): string | null;
}

/**
 * The identity of this process. `id` tells several owners in one process apart; by default each
 * call is an owner of its own.
 *
 * @example const owner = currentOwner()
 */
export function currentOwner(
  id: string = randomUUID(),
  table: ProcessTable = systemProcessTable(),
): OwnerIdentity {
  const { pid } = process;
  return Object.freeze({
    id,
    host: table.host,
    bootId: table.bootId,
    pidNamespace: table.pidNamespace,
    pid,
    startTime: table.startTime(pid) ?? UNKNOWN,
  });
}

/**
 * True only when it is certain that the owner's process runs no more: the machine has been booted
 * since, its pid is free, or its pid belongs to a process that started at another time.
 *
 * @example if (isProvenDead(held.heldBy)) await recover();
 */
export function isProvenDead(
  owner: OwnerIdentity,
  table: ProcessTable = systemProcessTable(),
): boolean {
  if (owner.host !== table.host || isUnknown(owner.bootId) || isUnknown(table.bootId)) return false;
  if (isUnknown(owner.pidNamespace) || owner.pidNamespace !== table.pidNamespace) return false;
  if (owner.bootId !== table.bootId) return true;
  const found = table.startTime(owner.pid);
  if (found === null) return true;
  return !isUnknown(found) && !isUnknown(owner.startTime) && found !== owner.startTime;
}

/** What Linux tells in `/proc`; elsewhere nothing is known, so nobody is proven dead. */
export function systemProcessTable(): ProcessTable {
  return {
    // Host names repeat between machines that share a directory; machine ids do so only in images.
    host: `${hostname()}/${textOf(() => readFileSync('/etc/machine-id', 'utf8'))}`,
    bootId: textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    pidNamespace: textOf(() => readlinkSync('/proc/self/ns/pid')),
    startTime: linuxStartTime,
  };
}

function linuxStartTime(pid: number): string | null {
  if (process.platform !== 'linux') return UNKNOWN;
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    return isAbsent(error) && isProcMounted() ? null : UNKNOWN;
  }
  // The name stands in parentheses and may hold spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  if (state === 'Z' || state === 'X') return null;
  return fields[START_TIME_FIELD] ?? UNKNOWN;
}

/** A process that may not be seen is not absent (`hidepid` hides those of other users). */
function isProcMounted(): boolean {
  return textOf(() => readFileSync('/proc/1/stat', 'utf8')) !== UNKNOWN;
}

function isAbsent(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH'].includes(String(error.code))
  );
}

function textOf(read: () => string): string {
  try {
    return read().trim() || UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

function isUnknown(text: string): boolean {
  return text === UNKNOWN || text === '';
}
