/** The identity of an attempt: derived from its place, never from a counter or a clock. */
import { type HashText, portableHash, type Sha256Digest } from '../base/digest.ts';
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
