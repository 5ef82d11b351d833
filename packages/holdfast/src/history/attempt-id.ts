/** The identity of an attempt: derived from its place, never from a counter or a clock. */
import { type HashText, portableHash, type Sha256Digest } from '../base/digest.ts';
import { sealJson } from '../base/json.ts';
import { Stamped } from '../base/stamped.ts';
import type { AttemptIdentity } from './catalog.ts';
import type { StreamRef } from './envelope.ts';

/** The attempt id of a position: the same in every process and after every restart. */
export function attemptIdOf(
  stream: StreamRef,
  nodeId: string,
  position: string,
  hash: HashText = portableHash,
): Sha256Digest {
  return `sha256:${hash(JSON.stringify([stream.namespace, stream.streamId, nodeId, position]))}`;
}

/** The mark of an identity that was derived here: what stores it need not hash it again. */
class DerivedIdentity extends Stamped {
  readonly #derived = true;

  static has(value: object): boolean {
    return #derived in value;
  }

  /** Marks, then freezes: engines may refuse new private fields on frozen objects. */
  static seal(identity: AttemptIdentity): AttemptIdentity {
    new DerivedIdentity(identity);
    return sealJson(identity);
  }
}

/** Where an attempt stands in its stream. */
export interface AttemptPlace {
  readonly nodeId: string;
  readonly position: string;
}

/** The identity of the attempt at a place, frozen. */
export function attemptIdentity(
  { namespace, streamId }: StreamRef,
  { nodeId, position }: AttemptPlace,
  hash: HashText,
): AttemptIdentity {
  const attemptId = attemptIdOf({ namespace, streamId }, nodeId, position, hash);
  return DerivedIdentity.seal({ namespace, streamId, nodeId, position, attemptId });
}

/** True for an identity of `attemptIdentity`. */
export function isDerivedIdentity(identity: object): boolean {
  return DerivedIdentity.has(identity);
}
