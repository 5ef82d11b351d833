/**
 * `verifyRun`: folds a stored run from scratch with the graph's code and proves that the same log
 * gives the same decisions.
 */

import { canonicalText, MerkleDigest } from '../base/digest.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { requireObject } from '../base/option.ts';
import type { GraphCommand } from '../graph/commands.ts';
import type { AnyCompiledGraph } from '../graph/graph-type.ts';
import type { EventEnvelope, StreamRef } from '../history/envelope.ts';
import { LaneBook } from '../run/lane-book.ts';
import { GraphExecutionError } from '../run/run-error.ts';
import { type RunEnd, typedEvent } from '../run/run-fold.ts';
import {
  isSavedMachine,
  RunMachine,
  type RunMachineOptions,
  type SavedMachine,
} from '../run/run-machine.ts';
import { hashText } from '../store/host-hash.ts';
import type { RunStorage } from '../store/storage.ts';
import { requireGraph, requireStorage } from './option-check.ts';
import { loadRunDefinition, mismatch, streamOf } from './run-definition.ts';
import { resultOf } from './run-end.ts';

/** Which run is verified, and with which code. */
export interface VerifyRunOptions {
  readonly runId: string;
  /** The graph's code, compiled from the stored definition. */
  readonly graph: AnyCompiledGraph;
}

/** What `verifyRun` has proven. */
export interface VerifiedRun {
  readonly runId: string;
  /** The sequence of the last event. */
  readonly sequence: number;
  /** How many recorded decisions were made again: those with dispatches, and the end's. */
  readonly decisions: number;
  /** The first event that was folded: 1, or the one behind the snapshot of a compacted run. */
  readonly verifiedFrom: number;
  /** The newest snapshot that was compared with the fold of the log, if there is one. */
  readonly snapshot: number | null;
}

/**
 * Folds every event, decides again wherever the record holds a decision, and compares: dispatches
 * with their inputs, the end with its output, the newest snapshot with the log.
 *
 * Throws `RUN_NOT_FOUND`, `STORED_GRAPH_MISMATCH`, `INVALID_EVENT` naming the event that breaks the
 * record's rules, `DETERMINISM_VIOLATION` naming what is decided differently, and storage codes.
 *
 * @example const { decisions } = await verifyRun(storage, { runId: 'r1', graph });
 */
export async function verifyRun(
  storage: RunStorage,
  options: VerifyRunOptions,
): Promise<VerifiedRun> {
  requireStorage(storage);
  requireObject('options', options);
  const { runId, graph } = options;
  requireGraph(graph);
  const stored = await loadRunDefinition(storage, runId);
  if (stored.graphDefinition.digest !== graph.definition.digest) {
    const { digest } = graph.definition;
    throw mismatch(runId, 'definition', stored.graphDefinition.digest, digest);
  }
  const stream = streamOf(storage, runId);
  const check = new RunCheck(storage, stream, {
    graph,
    lanes: new LaneBook(stored.resolvedPlan.plan),
  });
  const saved = await storage.snapshotStore.newest(stream);
  const machine = isOwn(saved?.body, graph) ? saved.body : null;
  const compacted = await check.isCompacted();
  if (compacted && machine === null) {
    throw new GraphExecutionError(
      'INVALID_EVENT',
      `Run ${runId} was compacted, and no snapshot of this graph stands before its events.`,
      { runId },
    );
  }
  const folded = compacted ? await check.fold(machine, null) : await check.fold(null, machine);
  return {
    runId,
    sequence: folded.machine.fold.sequence,
    decisions: folded.decisions,
    verifiedFrom: folded.from,
    snapshot: machine === null || saved === null ? null : saved.sequence,
  };
}

function isOwn(body: JsonValue | undefined, graph: AnyCompiledGraph): body is SavedMachine {
  return body !== undefined && isSavedMachine(body, graph.definition.digest);
}

interface Folded {
  readonly machine: RunMachine;
  readonly decisions: number;
  readonly from: number;
}

class RunCheck {
  readonly #storage: RunStorage;
  readonly #stream: StreamRef;
  readonly #folding: Pick<RunMachineOptions, 'graph' | 'lanes'>;

  constructor(
    storage: RunStorage,
    stream: StreamRef,
    folding: Pick<RunMachineOptions, 'graph' | 'lanes'>,
  ) {
    this.#storage = storage;
    this.#stream = stream;
    this.#folding = folding;
  }

  /** Whether events behind the first append, which is the run's first event, were deleted. */
  async isCompacted(): Promise<boolean> {
    for await (const { sequence } of this.#read(1)) return sequence !== 2;
    return false;
  }

  /** Folds from `saved`, or from the beginning; `compare` must be the fold at its own place. */
  async fold(saved: SavedMachine | null, compare: SavedMachine | null): Promise<Folded> {
    const machine = this.#machine(saved);
    const snapshot = compare === null ? null : this.#machine(compare);
    const from = machine.fold.sequence + 1;
    let decisions = 0;
    let lastDecidedAt = 0;
    for await (const envelope of this.#read(machine.fold.sequence)) {
      const event = typedEvent(envelope);
      if (event.type === 'graph:run-finished') {
        await this.#checkEnd(machine, event.payload, { saved, lastDecidedAt });
        decisions += 1;
      }
      machine.apply(event);
      if (snapshot?.fold.sequence === event.sequence) this.#compare(snapshot, machine);
      if (event.type !== 'graph:node-dispatched') continue;
      if (event.payload.decidedAt !== lastDecidedAt) decisions += 1;
      lastDecidedAt = event.payload.decidedAt;
    }
    return { machine, decisions, from };
  }

  #compare(snapshot: RunMachine, folded: RunMachine): void {
    // What a cursor saves is its own affair: its state is compared instead.
    const text = (machine: RunMachine) =>
      canonicalText([machine.save().fold, machine.state() as JsonValue]);
    if (text(snapshot) === text(folded)) return;
    const at = folded.fold.sequence;
    this.#violation(`the snapshot at ${at} is not the fold of the events before it`);
  }

  /** The graph must end the run as the record says it did. */
  async #checkEnd(machine: RunMachine, end: RunEnd, at: EndPlace): Promise<void> {
    // A cancelled run and one over its budget are ended by the executor, not by the graph.
    if (end.outcome === 'cancelled' || isExecutorsOwn(end)) return;
    const wanted = await this.#recordedEnd(end);
    if (isEnd(machine.decide(), wanted)) return;
    // A failure may be decided while attempts are in flight whose outcomes then still come in.
    if (end.outcome === 'fail' && (await this.#failedEarlier(wanted, at))) return;
    this.#violation(`it does not decide the end that was recorded: ${wanted.slice(0, 200)}`);
  }

  async #failedEarlier(wanted: string, at: EndPlace): Promise<boolean> {
    const machine = this.#machine(at.saved);
    for await (const envelope of this.#read(machine.fold.sequence)) {
      const event = typedEvent(envelope);
      if (event.type === 'graph:run-finished') return false;
      machine.apply(event);
      const undecided = machine.fold.sequence > at.lastDecidedAt;
      const settled = machine.unrecorded().dispatches.length === 0;
      if (undecided && settled && isEnd(machine.decide(), wanted)) return true;
    }
    return false;
  }

  async #recordedEnd(end: RunEnd): Promise<string> {
    const result = await resultOf(end, this.#stream, this.#storage);
    if (result.kind !== 'complete') return canonicalText({ ...result } as unknown as JsonValue);
    return canonicalText({ kind: 'complete', output: withoutSuccessor(result.output) });
  }

  #machine(saved: SavedMachine | null): RunMachine {
    const digest = new MerkleDigest(hashText);
    const runId = this.#stream.streamId;
    return new RunMachine({ ...this.#folding, runId, digest }, saved);
  }

  #read(after: number): AsyncIterable<EventEnvelope> {
    return this.#storage.eventStore.read(this.#stream, { after });
  }

  #violation(what: string): never {
    throw new GraphExecutionError(
      'DETERMINISM_VIOLATION',
      `Run ${this.#stream.streamId}: ${what}.`,
      { runId: this.#stream.streamId },
    );
  }
}

interface EndPlace {
  readonly saved: SavedMachine | null;
  readonly lastDecidedAt: number;
}

function isEnd(commands: readonly GraphCommand[], wanted: string): boolean {
  const [command] = commands;
  if (commands.length !== 1 || command === undefined) return false;
  return canonicalText({ ...command } as unknown as JsonValue) === wanted;
}

const OWN_ENDS: ReadonlySet<string> = new Set([
  'BUDGET_STOP',
  'RESULT_TOO_LARGE',
  'KNOWN_SECRET',
  'PREFLIGHT_FAILED',
]);

/** Ends that the executor decides over the graph's head: there is nothing to compare. */
function isExecutorsOwn({ code }: RunEnd): boolean {
  return code !== undefined && OWN_ENDS.has(code);
}

/** The executor adds the successor's run id to what the graph decided. */
function withoutSuccessor(output: JsonValue): JsonValue {
  const next = isJsonObject(output) ? output['continueAs'] : undefined;
  return isJsonObject(next) ? { continueAs: { input: next['input'] ?? null } } : output;
}
