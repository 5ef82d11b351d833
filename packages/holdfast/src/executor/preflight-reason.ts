/** Why the engine checks wait, as one line for whoever reads the record. */
import { fitText } from '../attempt/fitting-text.ts';
import { oneLine } from '../base/text.ts';
import type { LiveOutcome, StaticOutcome } from '../history/preflight-payload.ts';
import type { OpenProbe } from '../run/preflight/preflight-facts.ts';
import { safePayloadBytes } from '../store/policy.ts';
import type { RunStorage } from '../store/storage.ts';
import { SecretGuard } from './secret-guard.ts';

/** The longest reason, in code points. */
const MAX_REASON_LENGTH = 2_000;

/** What stands beside it in its event, in bytes. */
const FRAME_BYTES = 512;

/** Which check it was, on which target, and what was wrong: without secrets, whole or cut. */
export function preflightReason(
  started: OpenProbe['started'],
  { outcome, why }: { readonly outcome: StaticOutcome | LiveOutcome; readonly why: string | null },
  { knownSecrets, record }: RunStorage,
): string {
  const guard = new SecretGuard(knownSecrets);
  const { adapter, provider, model } = started.target;
  const check = `${started.stage} check of ${adapter}/${provider}/${model} for ${placeOf(started)}`;
  const told = oneLine(guard.text(said(check, outcome, why)), MAX_REASON_LENGTH, '');
  const reason = fitText(told, safePayloadBytes(record.policy) - FRAME_BYTES);
  // Cleaning and cutting can make a secret of what was none.
  return guard.holdsSecret(reason) ? `A ${started.stage} engine check did not go well.` : reason;
}

function said(check: string, outcome: StaticOutcome | LiveOutcome, why: string | null): string {
  const more = why === null ? '.' : `: ${why}`;
  switch (outcome.kind) {
    case 'failed':
      return `The ${check} failed (${outcome.failure})${more}`;
    case 'recording-failed':
      return `What the ${check} has shown could not be stored (${outcome.storageCode})${more}`;
    default:
      return `The ${check} was interrupted.`;
  }
}

function placeOf(started: OpenProbe['started']): string {
  const nodeId = started.stage === 'static' ? started.contextNodeId : null;
  return nodeId === null ? `lane ${started.laneId}` : `lane ${started.laneId}, node ${nodeId}`;
}
