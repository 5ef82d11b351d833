/** Asks the graph and writes its dispatches; everything else it says is returned. */
import type { MerkleDigest } from '../base/digest.ts';
import { isoTime } from '../base/time.ts';
import type {
  CompleteCommand,
  DispatchCommand,
  FailCommand,
  GraphCommand,
  PauseCommand,
} from '../graph/commands.ts';
import { type GraphIssue, GraphValidationError } from '../graph/validation-error.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import type { RunFold } from '../run/run-fold.ts';
import type { RunStorage } from '../store/storage.ts';
import type { TurnBatch } from './turn-batch.ts';
import { isUndoPosition, UNDO_PREFIX } from './undo-position.ts';

export interface DecisionLimits {
  readonly digest: MerkleDigest;
  readonly maxBatchBytes: number;
  readonly maxDispatches: number;
  /** What may be shown of a pause's reason. */
  readonly pauseText: (reason: string) => string;
}

/** A turn stops taking more when its batch has this share of the storage's limit. */
const BATCH_FILL = 0.5;

/** From how many bytes on a batch is full. */
export function fullBatchBytes({ record }: RunStorage): number {
  return record.policy.maxAppendBatchBytes * BATCH_FILL;
}

/**
 * `dispatched`: written whole · `partial`: the batch is full, the rest follows before anything
 * starts · `idle`: nothing new while something is in flight or paused.
 */
export type Decision =
  | { readonly kind: 'dispatched' | 'partial' | 'idle' }
  | PauseCommand
  | CompleteCommand
  | FailCommand;

/** Writes the rest of a decision of which a part is recorded already. True when it is whole. */
export function writeUnrecorded(batch: TurnBatch, limits: DecisionLimits): boolean {
  const { decidedAt, dispatches } = batch.machine.unrecorded();
  return writeDispatches(batch, { dispatches, decidedAt }, limits);
}

/**
 * Asks for the next commands. Throws `EMPTY_DECISION`, `DUPLICATE_POSITION`, `PROTOCOL` and
 * whatever the graph throws; nothing of the decision is then written.
 */
export function writeDecision(batch: TurnBatch, limits: DecisionLimits): Decision {
  const { machine } = batch;
  const decidedAt = machine.fold.sequence;
  const commands = machine.decide();
  const terminal = terminalOf(commands, machine.fold);
  if (terminal?.kind === 'pause') return { ...terminal, reason: limits.pauseText(terminal.reason) };
  if (terminal !== null) return terminal;
  // What is no end and no pause is dispatches alone.
  const dispatches = commands as readonly DispatchCommand[];
  if (dispatches.length === 0 || saysAgain(dispatches, machine)) {
    return emptyDecision(machine.fold);
  }
  refuseRepeats(dispatches, machine.fold);
  refuseFalseRetries(dispatches, machine.fold);
  // What a cancel takes back is bounded by what was done: no budget stops it.
  if (machine.fold.cancelRequested === null) {
    refuseUndoPositions(dispatches);
    if (machine.fold.dispatches + dispatches.length > limits.maxDispatches) {
      return budgetStop(machine.fold, limits, dispatches.length);
    }
  }
  const whole = writeDispatches(batch, { dispatches, decidedAt }, limits);
  return { kind: whole ? 'dispatched' : 'partial' };
}

function terminalOf(commands: readonly GraphCommand[], fold: RunFold): Decision | null {
  const [first] = commands;
  if (first === undefined || first.kind === 'dispatch') return null;
  if (first.kind === 'complete' && fold.positions.count() > 0) {
    const open = fold.positions.all().map(({ position }) => position);
    throw new GraphExecutionError(
      'PROTOCOL',
      `The graph decided to complete while ${open.slice(0, 5).join(', ')} is open.`,
      { open },
    );
  }
  return first;
}

function emptyDecision(fold: RunFold): Decision {
  if (fold.positions.count() > 0 || fold.cancelRequested !== null) return { kind: 'idle' };
  throw new GraphExecutionError(
    'EMPTY_DECISION',
    `The graph decided nothing at sequence ${fold.sequence} of run ${fold.runId}, ` +
      'and nothing is in flight: it would wait for ever.',
    { sequence: fold.sequence },
  );
}

/** A graph that takes no notice of a signal decides once more what is in flight: nothing new. */
function saysAgain(dispatches: readonly DispatchCommand[], machine: TurnBatch['machine']): boolean {
  if (!machine.isOnlySignalled) return false;
  const { positions } = machine.fold;
  return dispatches.every(({ position }) => positions.get(position) !== undefined);
}

/** Positions that begin so are kept for what a cancel undoes: a cancel would not stop them. */
function refuseUndoPositions(dispatches: readonly DispatchCommand[]): void {
  const undo = dispatches.find(({ position }) => isUndoPosition(position));
  if (undo === undefined) return;
  throw new GraphExecutionError(
    'PROTOCOL',
    `The graph decided position ${undo.position}; positions that begin with "${UNDO_PREFIX}" are ` +
      'kept for compensation. Give it another position.',
    { position: undo.position },
  );
}

function refuseRepeats(dispatches: readonly DispatchCommand[], fold: RunFold): void {
  const repeated = dispatches.find(({ position }) => fold.wasDispatched(position));
  if (repeated === undefined) return;
  throw new GraphExecutionError(
    'DUPLICATE_POSITION',
    `The graph decided position ${repeated.position} again; it was dispatched before.`,
    { position: repeated.position },
  );
}

/** A retry names the first position of an occurrence whose last attempt has failed, once. */
function refuseFalseRetries(dispatches: readonly DispatchCommand[], fold: RunFold): void {
  const issues: GraphIssue[] = [];
  const retried = new Set<string>();
  for (const [index, dispatch] of dispatches.entries()) {
    const { retryOf } = dispatch;
    if (retryOf === undefined) continue;
    const twice = retried.has(retryOf) ? `this decision retries ${retryOf} twice` : null;
    const message = fold.retryFault(dispatch) ?? twice;
    retried.add(retryOf);
    if (message !== null) {
      issues.push({ code: 'INVALID_GRAPH_COMMAND', path: `/${index}/retryOf`, message });
    }
  }
  if (issues.length > 0) throw new GraphValidationError('Invalid graph command.', issues);
}

function budgetStop(fold: RunFold, limits: DecisionLimits, wanted: number): FailCommand {
  const message =
    `The run has made ${fold.dispatches} dispatches and wants ${wanted} more; ` +
    `at most ${limits.maxDispatches} are allowed.`;
  return { kind: 'fail', code: 'BUDGET_STOP', message };
}

function writeDispatches(
  batch: TurnBatch,
  decision: { readonly dispatches: readonly DispatchCommand[]; readonly decidedAt: number },
  limits: DecisionLimits,
): boolean {
  for (const command of decision.dispatches) {
    if (batch.bytes > limits.maxBatchBytes) return false;
    const { nodeId, position, input, delayMs = 0, retryOf } = command;
    batch.writeDispatch(
      {
        nodeId,
        position,
        inputDigest: limits.digest.digest(input),
        decidedAt: decision.decidedAt,
        at: batch.at,
        ...(delayMs > 0 ? { notBefore: isoTime(batch.now + delayMs) } : {}),
        ...(retryOf === undefined ? {} : { retryOf }),
      },
      command,
    );
  }
  return true;
}
