/** Answers the pauses of a report without a person: `--yes`. */
import type { GraphExecutor, PauseView } from 'holdfast';
import { nodeResult } from '../drive/ask-pause.ts';
import type { PauseAnswerer } from '../drive/drive-session.ts';
import { findLine } from './ledger.ts';
import { publishOutput } from './report-flow.ts';

const BY = '--yes';

/** Approves; an uncertain `publish` is reconciled by looking into the ledger. */
export function yesAnswerer(directory: string): PauseAnswerer {
  return {
    asksPerson: false,
    async answer(pause, executor) {
      switch (pause.request.kind) {
        case 'approval':
          await executor.answer(pause.pauseId, true, { by: BY });
          return true;
        case 'reconcile-attempt':
          await reconcileByLedger(pause, executor, directory);
          return true;
        default:
          return false;
      }
    },
  };
}

/** What the ledger says of an uncertain `publish`. */
export function ledgerWords(directory: string, pause: PauseView): string {
  const line = findLine(directory, pause);
  return line === null
    ? `the ledger has no line of run ${pause.runId} at ${pause.position}`
    : `the ledger has the line of this attempt, with the key ${line.key}`;
}

async function reconcileByLedger(
  pause: PauseView,
  executor: GraphExecutor,
  directory: string,
): Promise<void> {
  const line = findLine(directory, pause);
  const said = { by: BY, reason: ledgerWords(directory, pause) };
  await executor.reconcile(
    pause.pauseId,
    line === null
      ? { kind: 'retry', ...said }
      : { kind: 'completed', result: nodeResult(publishOutput(line.key)), ...said },
  );
}
