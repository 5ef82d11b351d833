/**
 * What a graph says when it ends or pauses a run, as it may be recorded and shown: the known
 * secrets taken out first, then sound and bounded. A word of a graph never stands in the way of the
 * outcomes that are recorded beside it.
 */
import { fitText, jsonBytes } from '../attempt/fitting-text.ts';
import { soundFailure, soundReason } from '../attempt/outcome.ts';
import type { FailCommand } from '../graph/commands.ts';
import { safePayloadBytes } from '../store/policy.ts';
import type { RunStorage } from '../store/storage.ts';
import { SecretGuard } from './secret-guard.ts';

/** What stands around the two texts in their event, in bytes. */
const FRAME_BYTES = 64;

type FailText = Pick<FailCommand, 'code' | 'message'>;

/** The code and message of a run that its graph has failed. */
export function failText({ code, message }: FailText, storage: RunStorage): FailText {
  const guard = new SecretGuard(storage.knownSecrets);
  const told = guard.holdsSecret(code)
    ? { code: 'KNOWN_SECRET', message: 'The graph failed with a code that holds a known secret.' }
    : { code, message: guard.text(message) };
  const sound = soundFailure(told, 'GRAPH_FAILED');
  const room = safePayloadBytes(storage.record.policy) - FRAME_BYTES - jsonBytes(sound.code);
  const fitting = { code: sound.code, message: fitText(sound.message, room) };
  if (!guard.holdsSecret(fitting)) return fitting;
  // Cleaning can make a secret of what was none.
  return { code: 'KNOWN_SECRET', message: 'What the graph failed with holds a known secret.' };
}

/** Why a graph has paused; it is shown and not recorded. */
export function pauseText(reason: string, { knownSecrets }: RunStorage): string {
  const guard = new SecretGuard(knownSecrets);
  const sound = soundReason(guard.text(reason));
  return guard.holdsSecret(sound) ? 'The graph has paused.' : sound;
}
