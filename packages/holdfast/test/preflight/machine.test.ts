/** The order of engine checks, and the records that are refused, over random plans and failures. */
import fc from 'fast-check';
import type { ExecutionTarget } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { LaneBook } from '../../src/run/lane-book.ts';
import type { TypedEvent } from '../../src/run/run-fold.ts';
import { RunFold } from '../../src/run/run-fold.ts';
import {
  AT,
  type Fate,
  foldOf,
  type LaneShape,
  PreflightRecord,
  planOf,
  targetOf,
} from './record.ts';

const fates: readonly Fate[] = [
  'well',
  'unsupported',
  'interrupted',
  'recording-failed',
  'auth',
  'billing',
  'missing-cli',
  'rate-limit',
  'unknown',
];

const names = (...all: readonly string[]) => fc.constantFrom(...all);

const targets = fc
  .uniqueArray(fc.tuple(names('cli', 'api'), names('p', 'q'), names('small', 'large')), {
    minLength: 1,
    maxLength: 3,
    selector: (parts) => parts.join(),
  })
  .map((all) => all.map(([adapter, provider, model]) => targetOf(adapter, provider, model)));

const lane: fc.Arbitrary<LaneShape> = fc.record({
  targets,
  nodes: fc.nat(2),
  live: fc.constantFrom('required', 'skip'),
  unsupportedStatic: fc.constantFrom('block', 'allow'),
});

const shapes = fc.array(lane, { minLength: 1, maxLength: 3 });

/** How each probe ends, and whether a new process takes over behind it. */
const script = fc.array(
  fc.record({
    fate: fc.oneof(
      { weight: 4, arbitrary: fc.constant<Fate>('well') },
      { weight: 1, arbitrary: fc.constantFrom(...fates) },
    ),
    isLastOfProcess: fc.oneof(
      { weight: 4, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
  }),
  { minLength: 1, maxLength: 60 },
);

type Script = readonly { readonly fate: Fate; readonly isLastOfProcess: boolean }[];

/** Plays a script to its end; pauses are resumed while `resumes` lasts. */
function played(lanes: readonly LaneShape[], turns: Script, resumes: number): PreflightRecord {
  const record = new PreflightRecord(planOf(lanes));
  let left = resumes;
  let probes = 0;
  for (;;) {
    const step = record.next;
    if (step.kind === 'static' || step.kind === 'live') {
      const turn = turns[probes % turns.length] ?? { fate: 'well', isLastOfProcess: false };
      // Behind the script everything goes well, or no run would ever come to an end.
      const isScripted = probes < turns.length;
      record.probe(step, isScripted ? turn.fate : 'well');
      probes += 1;
      if (isScripted && turn.isLastOfProcess) record.round = null;
    } else if (step.kind === 'paused' && left > 0) {
      left -= 1;
      record.write('preflight:resumed', { preflightEventId: step.preflightEventId, at: AT });
    } else if (step.kind === 'no-target') record.fail(step.laneId);
    else return record;
  }
}

function startedIn(events: readonly TypedEvent[]) {
  return events.filter(({ type }) => type === 'preflight:probe-started');
}

describe('the order of engine checks', () => {
  it('ends in admitted, paused or failed after at most one probe of each context and seat', () => {
    fc.assert(
      fc.property(shapes, fc.array(fc.constantFrom(...fates), { maxLength: 20 }), (lanes, ends) => {
        const turns = [...ends, 'well' as const].map((fate) => ({ fate, isLastOfProcess: false }));
        const record = played(lanes, turns, 0);
        const most = lanes.reduce(
          (sum, { targets: all, nodes }) => sum + all.length * (Math.max(nodes, 1) + 1),
          0,
        );
        expect(startedIn(record.events).length).toBeLessThanOrEqual(most);
        expect(['admitted', 'paused', 'failed']).toContain(record.fold.preflight.phase);
      }),
    );
  });

  it('never overlaps two probes, and calls no seat before every static check is done', () => {
    fc.assert(
      fc.property(shapes, script, fc.nat(5), (lanes, turns, resumes) => {
        const { events } = played(lanes, turns, resumes);
        let open = false;
        for (const { type } of events) {
          if (type === 'preflight:probe-started') {
            expect(open).toBe(false);
            open = true;
          } else if (type === 'preflight:probe-finished') open = false;
        }
        const round = lastRound(events);
        const live = round.indexOf('live');
        expect(live === -1 ? [] : round.slice(live)).not.toContain('static');
      }),
    );
  });

  it('admits a plan only once every lane has a seat that passed', () => {
    fc.assert(
      fc.property(shapes, script, fc.nat(5), (lanes, turns, resumes) => {
        const { events, plan } = played(lanes, turns, resumes);
        const fold = foldOf(plan, events.slice(0, 1));
        const seen: TypedEvent[] = [];
        for (const event of events.slice(1)) {
          fold.apply(event);
          seen.push(event);
          if (fold.preflight.phase === 'admitted') break;
        }
        if (fold.preflight.phase !== 'admitted') return;
        lanes.forEach(({ live, targets: all }, at) => {
          const id = `lane-${at}`;
          const usable = all.filter((target) => !fold.preflight.isExcluded(id, target));
          expect(usable).not.toEqual([]);
          if (live === 'required') expect(answeredIn(seen, id)).not.toEqual([]);
        });
      }),
    );
  });

  it('goes on from a saved fold as from the fold that was saved', () => {
    fc.assert(
      fc.property(shapes, script, fc.nat(5), (lanes, turns, resumes) => {
        const { events, plan, fold } = played(lanes, turns, resumes);
        let saved = foldOf(plan, events.slice(0, 1));
        for (const event of events.slice(1)) {
          const text = JSON.stringify(saved.save());
          saved = new RunFold('r1', JSON.parse(text), new LaneBook(plan));
          saved.apply(event);
        }
        expect(saved.preflight.view()).toEqual(fold.preflight.view());
        expect(saved.preflight.next(null)).toEqual(fold.preflight.next(null));
        expect(saved.save()).toEqual(fold.save());
      }),
    );
  });
});

describe('records of engine checks that are refused', () => {
  it('refuses a record in which one event was dropped, doubled, moved or edited', () => {
    fc.assert(
      fc.property(
        shapes,
        script,
        fc.tuple(fc.nat(5), fc.nat(), fc.nat()),
        (lanes, turns, [resumes, at, how]) => {
          const { events, plan } = played(lanes, turns, resumes);
          const place = 1 + (at % Math.max(1, events.length - 1));
          const mutant = mutants[how % mutants.length];
          const made = mutant?.make(events, place) ?? null;
          if (made === null || isPrefix(made, events)) return;
          expect(() => foldOf(plan, made), `${mutant?.name} at ${place}`).toThrow(
            /breaks the record/,
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('refuses node code before the checks are done, while they are paused, and during one', () => {
    const record = new PreflightRecord(planOf([laneShape()]));
    const dispatch = dispatched;
    expect(() => record.write('graph:node-dispatched', dispatch)).toThrow(/checks are pending/);
    const first = record.next;
    if (first.kind !== 'static') throw new Error('A static check comes first.');
    record.probe(first, 'rate-limit');
    expect(() => record.write('graph:node-dispatched', dispatch)).toThrow(/checks are paused/);
    record.write('preflight:resumed', { preflightEventId: pauseId(record), at: AT });
    const second = record.next;
    if (second.kind !== 'static') throw new Error('The check is made again.');
    record.probe(second, 'well');
    // Every lane is admitted: only now may work begin.
    expect(record.fold.preflight.phase).toBe('admitted');
    record.round = null;
    const again = record.next;
    if (again.kind !== 'static') throw new Error('A new process checks again.');
    const open = record.start(again);
    expect(() => record.write('graph:node-dispatched', dispatch)).toThrow(/is not finished/);
    record.finish(again, open, 'well');
    record.write('graph:node-dispatched', { ...dispatch, decidedAt: record.events.length });
    expect(record.fold.dispatches).toBe(1);
  });

  it('lets a cancelled run undo what it did, whatever its checks say', () => {
    const record = new PreflightRecord(planOf([laneShape()]));
    make(record, 'well');
    record.round = null;
    make(record, 'rate-limit');
    expect(record.fold.preflight.phase).toBe('paused');
    record.write('graph:cancel-requested', { by: 'ada', reason: 'enough', at: AT });
    record.write('graph:node-dispatched', { ...dispatched, decidedAt: record.events.length });
    record.write('graph:node-failed', {
      nodeId: dispatched.nodeId,
      position: dispatched.position,
      code: 'ABORTED',
      message: 'The run was cancelled.',
      retryable: true,
      abandoned: true,
      at: AT,
    });
    record.write('graph:run-finished', { outcome: 'cancelled' });
    expect(record.fold.end?.outcome).toBe('cancelled');
  });

  it('expects a saved identity again, also behind a check that told none', () => {
    const record = new PreflightRecord(planOf([{ ...laneShape(), unsupportedStatic: 'allow' }]));
    make(record, 'well');
    record.round = null;
    make(record, 'unsupported');
    record.round = null;
    expect(record.next).toMatchObject({ kind: 'static', expected: { adapter: 'cli' } });
  });

  it('refuses a live check before the static ones, of another seat, and of an admitted run', () => {
    const targets = [targetOf('cli', 'p', 'small'), targetOf('api', 'q', 'large')] as const;
    const [first, second] = targets;
    const record = new PreflightRecord(planOf([{ ...laneShape(), targets, live: 'required' }]));
    const live = (target: ExecutionTarget) =>
      record.start({ kind: 'live', laneId: 'lane-0', target, identity: null, resumedBy: null });
    expect(() => live(first)).toThrow(/static checks come first/);
    make(record, 'well');
    expect(() => live(first)).toThrow(/static checks come first/);
    make(record, 'well');
    expect(() => live(second)).toThrow(/another seat has to answer/);
    make(record, 'well');
    expect(record.fold.preflight.phase).toBe('admitted');
    // The seat that answered dies: nobody has to answer for it any more.
    record.round = null;
    make(record, 'missing-cli');
    make(record, 'well');
    expect(() => live(second)).toThrow(/admitted already/);
  });

  it('refuses every preflight event in a run whose plan asks for no checks', () => {
    const checked = new PreflightRecord(planOf([laneShape()]));
    const step = checked.next;
    if (step.kind !== 'static') throw new Error('A static check comes first.');
    checked.probe(step, 'auth');
    const { preflight: _, ...plan } = checked.plan;
    expect(() => foldOf(plan, checked.events)).toThrow(/asks for no checks/);
  });

  it('refuses a static check that admits another identity than the saved one', () => {
    const record = new PreflightRecord(planOf([laneShape()]));
    const step = record.next;
    if (step.kind !== 'static') throw new Error('A static check comes first.');
    record.probe(step, 'well');
    record.round = null;
    const again = record.next;
    if (again.kind !== 'static') throw new Error('A new process checks again.');
    const probeEventId = record.start(again);
    const selection = { ...again.expected, adapterVersion: '2.0.0' } as never;
    const outcome = { kind: 'admitted', selection } as const;
    expect(() =>
      record.write('preflight:probe-finished', { stage: 'static', probeEventId, outcome, at: AT }),
    ).toThrow(/another identity/);
  });
});

const dispatched = {
  nodeId: 'lane-0/0',
  position: 'p1',
  inputDigest: `sha256:${'0'.repeat(64)}`,
  decidedAt: 1,
  at: AT,
} as const;

function laneShape(): LaneShape {
  return {
    targets: [targetOf('cli', 'p', 'small')],
    nodes: 1,
    live: 'skip',
    unsupportedStatic: 'block',
  };
}

/** Makes the check that comes next. */
function make(record: PreflightRecord, fate: Fate): void {
  const { next } = record;
  if (next.kind !== 'static' && next.kind !== 'live') throw new Error(`There is ${next.kind}.`);
  record.probe(next, fate);
}

function pauseId(record: PreflightRecord): string {
  return record.fold.preflight.view().pause?.preflightEventId ?? '';
}

/** Stages of the probes since the last process began, in order. */
function lastRound(events: readonly TypedEvent[]): readonly string[] {
  const begins = events.findLastIndex(
    (event) =>
      event.type === 'preflight:probe-started' &&
      event.payload.stage === 'static' &&
      event.payload.contextNodeId === firstContext(events, event.payload.laneId),
  );
  return events
    .slice(begins)
    .flatMap((event) => (event.type === 'preflight:probe-started' ? [event.payload.stage] : []));
}

function firstContext(events: readonly TypedEvent[], laneId: string): string | null {
  for (const event of events) {
    if (event.type !== 'preflight:probe-started' || event.payload.stage !== 'static') continue;
    if (event.payload.laneId === laneId) return event.payload.contextNodeId;
  }
  return null;
}

function answeredIn(events: readonly TypedEvent[], laneId: string): readonly string[] {
  const live = new Map(
    events.flatMap((event) =>
      event.type === 'preflight:probe-started' && event.payload.stage === 'live'
        ? [[event.id, event.payload.laneId] as const]
        : [],
    ),
  );
  return events.flatMap((event) =>
    event.type === 'preflight:probe-finished' &&
    event.payload.outcome.kind === 'succeeded' &&
    live.get(event.payload.probeEventId) === laneId
      ? [event.id]
      : [],
  );
}

interface Mutant {
  readonly name: string;
  /** The record with one fault at `place`; null where this mutant changes nothing. */
  make(events: readonly TypedEvent[], place: number): readonly TypedEvent[] | null;
}

const mutants: readonly Mutant[] = [
  {
    name: 'dropped',
    make: (events, place) => placed(events.filter((_, at) => at !== place)),
  },
  {
    name: 'doubled',
    make: (events, place) =>
      placed(events.flatMap((event, at) => (at === place ? [event, event] : event))),
  },
  {
    name: 'moved',
    make: (events, place) => {
      const [event, other] = [events[place], events[place + 1]];
      if (event === undefined || other === undefined) return null;
      return placed([...events.slice(0, place), other, event, ...events.slice(place + 2)]);
    },
  },
  {
    name: 'of another lane',
    make: (events, place) => edited(events, place, { laneId: 'lane-9' }),
  },
  {
    name: 'of another probe',
    make: (events, place) => edited(events, place, { probeEventId: 'r1@999' }),
  },
  {
    name: 'of another pause',
    make: (events, place) => edited(events, place, { preflightEventId: 'r1@999' }),
  },
  {
    name: 'of another end',
    make: (events, place) => edited(events, place, { finishedEventId: 'r1@999' }),
  },
  {
    name: 'of another failure',
    make: (events, place) =>
      events[place]?.type === 'graph:model-unavailable'
        ? edited(events, place, { failure: otherFailure(events[place]) })
        : null,
  },
  {
    name: 'of another resume',
    make: (events, place) => edited(events, place, { resumedBy: 'r1@999' }),
  },
  {
    name: 'of another node',
    make: (events, place) => edited(events, place, { contextNodeId: 'elsewhere' }),
  },
];

function otherFailure(event: TypedEvent): string {
  const { failure } = event.payload as { readonly failure: string };
  return failure === 'auth' ? 'billing' : 'auth';
}

/** The same events, at the places at which they would then stand. */
function placed(events: readonly TypedEvent[]): readonly TypedEvent[] {
  return events.map((event, at) => ({ ...event, sequence: at + 1, id: `r1@${at + 1}` }));
}

/** One event with other fields, where it has them. */
function edited(
  events: readonly TypedEvent[],
  place: number,
  fields: Readonly<Record<string, string>>,
): readonly TypedEvent[] | null {
  const event = events[place];
  if (event === undefined) return null;
  const has = Object.keys(fields).every((field) => Object.hasOwn(event.payload, field));
  if (!has) return null;
  const payload = { ...event.payload, ...fields };
  return events.map((each, at) => (at === place ? ({ ...each, payload } as TypedEvent) : each));
}

/** Dropping the last events of a record leaves a record that may stand. */
function isPrefix(made: readonly TypedEvent[], of: readonly TypedEvent[]): boolean {
  return made.every((event, at) => JSON.stringify(event) === JSON.stringify(of[at]));
}
