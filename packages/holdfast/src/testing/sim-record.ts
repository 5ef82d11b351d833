/**
 * Every stream of a simulation, read as it grows: by the referee, and by a fresh fold of the
 * library's own, so that state = fold = snapshot + tail and the same log gives the same decisions.
 */
import type { MemoryBacking, MemoryStream } from '../adapters/memory/backing.ts';
import { canonicalText, MerkleDigest } from '../base/digest.ts';
import { errorText } from '../base/errors.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { Clock } from '../base/ports.ts';
import { millisecondsOf } from '../base/time.ts';
import { childRunId, isChildRunId } from '../executor/run-names.ts';
import type { GraphEvent } from '../graph/graph-type.ts';
import { eventCatalog, isEventType } from '../history/catalog.ts';
import type { EventEnvelope } from '../history/envelope.ts';
import { LaneBook } from '../run/lane-book.ts';
import { isSavedMachine, RunMachine, type SavedMachine } from '../run/run-machine.ts';
import { hashText } from '../store/host-hash.ts';
import type { Snapshot } from '../store/snapshot-store.ts';
import { SimArtifacts } from './sim-artifacts.ts';
import type { CallWitness } from './sim-lane-referee.ts';
import { type RunPlan, resolvedPlanOf } from './sim-plan.ts';
import type { SimPosition } from './sim-position.ts';
import { type RefereeOptions, SimReferee } from './sim-referee.ts';
import { holdsLateSecret, refuseLateSecret, refuseSecret } from './sim-secret.ts';
import type { SimTrace } from './sim-trace.ts';
import { SimViolation } from './sim-violation.ts';

export interface RecordOptions {
  readonly backing: MemoryBacking;
  readonly trace: SimTrace;
  readonly clock: Clock;
  readonly maxConcurrentAttempts: number;
  readonly severalOwners: boolean;
  readonly witness: CallWitness;
  readonly store: RefereeOptions['store'];
  /** Whether a writer knows the secret that becomes known late. */
  readonly knowsLate: (writer: string) => boolean;
  /** The plan of the graph with this id. */
  readonly planOf: (graphId: string) => RunPlan | undefined;
}

interface Watched {
  readonly referee: SimReferee;
  readonly machine: RunMachine;
  readonly events: EventEnvelope[];
  appends: number;
  lastSnapshot: Snapshot | null;
}

export class SimRecord {
  readonly #options: RecordOptions;
  readonly #runs = new Map<string, Watched>();
  readonly #startMs: number;
  readonly #digest = new MerkleDigest(hashText);
  readonly #artifacts: SimArtifacts;
  readonly #books = new Map<RunPlan, LaneBook>();
  /** Whether something holds what becomes a secret later. */
  #hasLate = false;

  constructor(options: RecordOptions) {
    this.#options = options;
    this.#artifacts = new SimArtifacts(options.backing);
    this.#startMs = options.clock.now();
  }

  referee(runId: string): SimReferee | undefined {
    return this.#runs.get(runId)?.referee;
  }

  all(): readonly SimReferee[] {
    return [...this.#runs.values()].map(({ referee }) => referee);
  }

  events(runId: string): readonly EventEnvelope[] {
    return this.#runs.get(runId)?.events ?? [];
  }

  /** What the artifacts of a run have together. */
  artifactBytes(runId: string): number {
    return this.#artifacts.bytesOf(runId);
  }

  /** Whether a run is a root, or the child that an open position of a run like it stands for. */
  isHeld(runId: string): boolean {
    return !isChildRunId(runId) || this.#holder(runId) !== null;
  }

  /** Whether a run is driven, or could be: no run above it lacks the slot that this takes. */
  hasRoom(runId: string): boolean {
    if (!isChildRunId(runId)) return true;
    const holder = this.#holder(runId);
    if (holder === null) return false;
    const { parent, position } = holder;
    const inFlight = parent.with('running').length;
    const isFree = inFlight < this.#options.maxConcurrentAttempts;
    return (position.status === 'running' || isFree) && this.hasRoom(parent.runId);
  }

  #holder(runId: string): { readonly parent: SimReferee; readonly position: SimPosition } | null {
    const parentId = runId.slice(0, runId.lastIndexOf('.'));
    const parent = this.referee(parentId);
    if (parent === undefined || parent.end !== null || !this.isHeld(parentId)) return null;
    for (const position of parent.positions.values()) {
      const isOpen = position.status !== 'settled';
      if (isOpen && childRunId(parentId, position.position, hashText) === runId) {
        return { parent, position };
      }
    }
    return null;
  }

  /** Takes in what was appended since the last look; true when anything. Throws `SimViolation`. */
  observe(): boolean {
    let grown = false;
    for (const stream of this.#options.backing.streams.values()) {
      const run = this.#watched(stream);
      const before = run.appends;
      for (; run.appends < stream.appends.length; run.appends += 1) {
        this.#append(run, stream.appends[run.appends] ?? []);
        grown = true;
      }
      // Beside events it has their writer; alone it may be anybody's.
      const writer = run.appends > before ? run.events.at(-1) : undefined;
      this.#checkSnapshot(run, stream, writer);
    }
    return grown;
  }

  /**
   * A run that has completed or was cancelled has left no child behind; one that has failed has at
   * least told its children to end.
   */
  checkChildren(): void {
    for (const run of this.all()) {
      if (run.end === null) continue;
      for (const { position } of run.positions.values()) {
        const child = this.referee(childRunId(run.runId, position, hashText));
        if (child === undefined || child.end !== null) continue;
        const outcome = run.end['outcome'];
        if (outcome === 'fail' && child.isCancelled) continue;
        throw new SimViolation(`run ${run.runId} is at its end, its child ${child.runId} is not`);
      }
    }
  }

  /** Folds every stream again, from its beginning and from each snapshot that is kept. */
  checkFolds(): void {
    this.#artifacts.checkSecrets();
    for (const stream of this.#options.backing.streams.values()) {
      const run = this.#watched(stream);
      const live = shown(run.machine);
      for (const { body } of stream.snapshots) {
        if (!isSavedMachine(body, run.referee.plan.graph.definition.digest)) {
          throw new SimViolation(`run ${run.referee.runId}: a snapshot is unreadable`);
        }
        this.#compare(run, this.#folded(run, body), live);
      }
      this.#compare(run, this.#folded(run, null), live);
      this.#checkPlainFold(run);
    }
  }

  #folded(run: Watched, saved: SavedMachine | null): RunMachine {
    const machine = this.#machine(run.referee, saved);
    for (const event of run.events) {
      if (event.sequence > machine.fold.sequence) machine.applyEnvelope(event);
    }
    return machine;
  }

  #compare(run: Watched, machine: RunMachine, live: string): void {
    if (shown(machine) === live) return;
    throw new SimViolation(
      `run ${run.referee.runId}: another fold, another state:\n${shown(machine)}\nnot\n${live}`,
    );
  }

  #checkPlainFold({ referee, events, machine }: Watched): void {
    const { graph } = referee.plan;
    let state: unknown = graph.initialState();
    for (const { type, version, payload } of events) {
      if (!isEventType(type) || !eventCatalog[type].reduced) continue;
      const event: GraphEvent = { type: type.slice('graph:'.length), version, payload };
      state = graph.reduce(state as never, event);
    }
    const plain = canonicalText(state as JsonValue);
    if (plain === canonicalText(machine.state() as JsonValue)) return;
    throw new SimViolation(`run ${referee.runId}: the cursor's state is not the plain fold`);
  }

  #append(run: Watched, append: readonly EventEnvelope[]): void {
    const { trace } = this.#options;
    trace.add('log', `${run.referee.runId} ${append.map(line).join(' · ')}`);
    for (const event of append) {
      trace.count(event.type);
      if (event.type === 'graph:node-failed') trace.count(`failed ${codeOf(event)}`);
      this.#checkMoment(run, event);
      const where = `run ${run.referee.runId}, event ${event.sequence}`;
      const text = JSON.stringify(event);
      refuseSecret(where, text);
      this.#checkLate(event, where, text);
      if (this.#artifacts.check(where, event.payload) > 0) trace.count('artifact');
      run.events.push(event);
    }
    run.referee.read(append);
    try {
      for (const event of append) run.machine.applyEnvelope(event);
    } catch (error) {
      throw new SimViolation(`run ${run.referee.runId} cannot be folded: ${errorText(error)}`);
    }
  }

  /** Who knows the late secret does not write it, though it stands in what it has read. */
  #checkLate(event: EventEnvelope, where: string, text: string): void {
    const isKnown = this.#knowsLate(event);
    if (isKnown) refuseLateSecret(where, text);
    else if (holdsLateSecret(text)) this.#hasLate = true;
    if (isKnown && this.#hasLate) this.#options.trace.count('beside a late secret');
  }

  #knowsLate({ causationId }: EventEnvelope): boolean {
    return causationId != null && this.#options.knowsLate(causationId);
  }

  /** Nobody goes by another clock than the one it was given. */
  #checkMoment({ referee }: Watched, { sequence, timestamp }: EventEnvelope): void {
    const { clock } = this.#options;
    const atMs = millisecondsOf(timestamp);
    if (atMs >= this.#startMs && atMs <= clock.now()) return;
    throw new SimViolation(`run ${referee.runId}, event ${sequence}: its moment is ${timestamp}`);
  }

  #checkSnapshot(run: Watched, stream: MemoryStream, writer: EventEnvelope | undefined): void {
    const snapshot = stream.snapshots.at(-1) ?? null;
    if (snapshot === null || snapshot === run.lastSnapshot) return;
    run.lastSnapshot = snapshot;
    this.#options.trace.count('snapshot');
    if (writer !== undefined && this.#knowsLate(writer)) {
      refuseLateSecret('a snapshot', JSON.stringify(snapshot.body));
    }
    const { fold } = run.machine;
    const matches =
      snapshot.sequence === fold.sequence &&
      canonicalText(snapshot.body) === canonicalText(run.machine.save());
    if (matches) return;
    throw new SimViolation(
      `run ${run.referee.runId}: the snapshot at ${snapshot.sequence} is not the fold at ` +
        `${fold.sequence}:\n${canonicalText(snapshot.body)}\nnot\n` +
        canonicalText(run.machine.save()),
    );
  }

  #watched(stream: MemoryStream): Watched {
    const { streamId } = stream.ref;
    const known = this.#runs.get(streamId);
    if (known !== undefined) return known;
    const plan = this.#options.planOf(stream.index?.graphId ?? '');
    if (plan === undefined) throw new SimViolation(`Nobody knows the graph of run ${streamId}.`);
    const referee = new SimReferee({ ...this.#options, runId: streamId, plan });
    const machine = this.#machine(referee, null);
    const watched = { referee, machine, events: [], appends: 0, lastSnapshot: null };
    this.#runs.set(streamId, watched);
    return watched;
  }

  #machine({ runId, plan }: SimReferee, saved: SavedMachine | null): RunMachine {
    const { graph } = plan;
    const lanes = this.#lanesOf(plan);
    return new RunMachine({ runId, graph, digest: this.#digest, lanes }, saved);
  }

  #lanesOf(plan: RunPlan): LaneBook {
    if (plan.lanes.length === 0) return LaneBook.none;
    const lanes = this.#books.get(plan) ?? new LaneBook(resolvedPlanOf(plan).plan);
    this.#books.set(plan, lanes);
    return lanes;
  }
}

function shown(machine: RunMachine): string {
  const { fold } = machine;
  return canonicalText({ saved: machine.save(), end: (fold.end ?? null) as JsonValue });
}

function codeOf({ payload }: EventEnvelope): string {
  return isJsonObject(payload) ? String(payload['code']).slice(0, 40) : '';
}

/** One event in a few words. */
function line({ sequence, type, payload }: EventEnvelope): string {
  const name = type.replace('graph:', '').replace('node-', '');
  const about = isJsonObject(payload) ? payload : {};
  const identity = isJsonObject(about['identity']) ? about['identity'] : about;
  const request = isJsonObject(about['request']) ? about['request'] : {};
  const words = [
    identity['position'],
    about['step'],
    about['code'],
    about['kind'],
    about['outcome'],
    request['kind'],
    about['name'],
    about['signalId'],
  ];
  return [`${sequence} ${name}`, ...words.filter((word) => word !== undefined)].join(' ');
}
