/**
 * What the checks have shown of each seat: a target of a lane. It says which check comes next.
 *
 * The static checks of one process are a round: every node of every usable seat, in the plan's
 * order. A new process begins a round of its own; what earlier rounds have saved is what it must
 * find again.
 */
import type { EngineSelectionRecord } from '../../base/engine-identity.ts';
import type { ExecutionTarget } from '../../graph/execution-target.ts';
import type { PreflightLane, PreflightPlan } from './preflight-plan.ts';

/** What a snapshot keeps of a seat. */
export interface SavedSeat {
  readonly saved: readonly (EngineSelectionRecord | null)[];
  readonly covered: number;
  readonly isBlocked: boolean;
  readonly answeredBy: string | null;
}

/** A target of a lane. */
export class Seat {
  readonly lane: PreflightLane;
  readonly target: ExecutionTarget;
  /** By context: the identity that was admitted last, or null. */
  readonly #saved: (EngineSelectionRecord | null)[];
  /** How many contexts this round has covered. */
  #covered: number;
  /** It cannot be checked without a call, and its lane does not allow that. */
  #isBlocked: boolean;
  /** The live probe that it answered. */
  #answeredBy: string | null;

  constructor(lane: PreflightLane, target: ExecutionTarget, saved?: SavedSeat) {
    this.lane = lane;
    this.target = target;
    this.#saved = [...(saved?.saved ?? [])];
    this.#covered = saved?.covered ?? 0;
    this.#isBlocked = saved?.isBlocked ?? false;
    this.#answeredBy = saved?.answeredBy ?? null;
  }

  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  get isAnswered(): boolean {
    return this.#answeredBy !== null;
  }

  get isCovered(): boolean {
    return this.#covered >= this.lane.contexts.length;
  }

  /** How many contexts this round has covered: the place of the next one. */
  get covered(): number {
    return this.#covered;
  }

  /** The identity that was admitted last in a context. */
  expectedAt(context: number): EngineSelectionRecord | null {
    return this.#saved[context] ?? null;
  }

  /** The identity that a live call must have, if a static check has told one. */
  get liveIdentity(): EngineSelectionRecord | null {
    const found = this.#saved.find((saved) => saved !== null) ?? null;
    return found === null ? null : { ...found, capabilities: [] };
  }

  beginRound(): void {
    this.#covered = 0;
  }

  /** The check of the next context went well; null when the engine told no identity. */
  cover(selection: EngineSelectionRecord | null): void {
    this.#saved[this.#covered] = selection ?? this.expectedAt(this.#covered);
    this.#covered += 1;
  }

  block(): void {
    this.#isBlocked = true;
  }

  answer(probeEventId: string): void {
    this.#answeredBy = probeEventId;
  }

  save(): SavedSeat {
    return {
      saved: [...this.#saved],
      covered: this.#covered,
      isBlocked: this.#isBlocked,
      answeredBy: this.#answeredBy,
    };
  }
}

export class PreflightSeats {
  readonly #lanes: readonly (readonly Seat[])[];
  readonly #isDead: (target: ExecutionTarget) => boolean;

  constructor(
    plan: PreflightPlan,
    isDead: (target: ExecutionTarget) => boolean,
    saved?: readonly (readonly SavedSeat[])[],
  ) {
    this.#isDead = isDead;
    this.#lanes = plan.lanes.map((lane, at) =>
      lane.targets.map((target, place) => new Seat(lane, target, saved?.[at]?.[place])),
    );
  }

  find(laneId: string, isTarget: (target: ExecutionTarget) => boolean): Seat | null {
    const lane = this.#lanes.find((seats) => seats[0]?.lane.id === laneId) ?? [];
    return lane.find(({ target }) => isTarget(target)) ?? null;
  }

  /** Neither proven dead nor blocked. */
  isUsable(seat: Seat): boolean {
    return !seat.isBlocked && !this.#isDead(seat.target);
  }

  /** The first lane that has no usable seat. */
  get lostLane(): PreflightLane | null {
    const lost = this.#lanes.find((seats) => !seats.some((seat) => this.isUsable(seat)));
    return lost?.[0]?.lane ?? null;
  }

  /** The seat that a new round begins with. */
  get firstStatic(): Seat | null {
    return this.#first(() => true);
  }

  /** The seat whose next context this round has to check. */
  get nextStatic(): Seat | null {
    return this.#first((seat) => !seat.isCovered);
  }

  /** The first seat that has to answer for its lane. */
  get nextLive(): Seat | null {
    for (const seats of this.#lanes) {
      const usable = seats.filter((seat) => this.isUsable(seat));
      const first = usable[0];
      if (first?.lane.isLive && !usable.some(({ isAnswered }) => isAnswered)) return first;
    }
    return null;
  }

  beginRound(): void {
    for (const seat of this.#lanes.flat()) seat.beginRound();
  }

  save(): readonly (readonly SavedSeat[])[] {
    return this.#lanes.map((seats) => seats.map((seat) => seat.save()));
  }

  #first(isWanted: (seat: Seat) => boolean): Seat | null {
    for (const seats of this.#lanes) {
      for (const seat of seats) if (isWanted(seat) && this.isUsable(seat)) return seat;
    }
    return null;
  }
}
