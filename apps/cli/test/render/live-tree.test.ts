import type { EventEnvelope, JsonValue } from 'holdfast';
import { RunViewFold } from 'holdfast/views';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveTree } from '../../src/render/live-tree.ts';
import { PlainLines } from '../../src/render/plain-lines.ts';
import { Screen } from '../fakes/screen.ts';
import { fakeTerminal } from '../fakes/terminal.ts';
import { chainFlow } from '../fakes/workspace.ts';

const at = '2026-01-01T00:00:00.000Z';

/** The events of a run whose nodes are started and completed one after the other. */
class Events {
  readonly fold = new RunViewFold('r1');
  #sequence = 0;

  next(type: string, payload: object) {
    this.#sequence += 1;
    const envelope: EventEnvelope = {
      id: `r1@${this.#sequence}`,
      stream: { namespace: 'local', streamId: 'r1' },
      sequence: this.#sequence,
      type: `graph:${type}`,
      version: 1,
      timestamp: at,
      correlationId: 'r1',
      causationId: null,
      payload: payload as JsonValue,
    };
    return [envelope, this.fold.apply(envelope)] as const;
  }

  dispatch(nodeId: string) {
    const position = `flow/${nodeId}#1`;
    const inputDigest = `sha256:${'0'.repeat(64)}`;
    const decidedAt = Math.max(1, this.#sequence);
    return this.next('node-dispatched', { nodeId, position, inputDigest, decidedAt, at });
  }

  start(nodeId: string) {
    const place = { namespace: 'local', streamId: 'r1', position: `flow/${nodeId}#1` };
    const identity = { ...place, nodeId, attemptId: `sha256:${'0'.repeat(64)}` };
    return this.next('node-attempt-started', { identity, retrySafe: true });
  }

  complete(nodeId: string, output: JsonValue = null) {
    return this.next('node-completed', {
      nodeId,
      position: `flow/${nodeId}#1`,
      result: { output },
      at,
    });
  }
}

const flow = chainFlow('demo', 'first', 'second') as never;

function setUp(columns: number, rows: number) {
  const screen = new Screen(columns, rows);
  const terminal = {
    ...fakeTerminal({ isLive: true }),
    size: () => screen.size(),
    out: (text: string) => screen.out(text),
    now: () => Date.parse(at),
  };
  const events = new Events();
  events.next('run-started', { definition: { graph: { id: 'demo', kind: 'flow' } } });
  const tree = new LiveTree(terminal, flow);
  tree.begin(events.fold.view());
  return { screen, events, tree };
}

describe('the live tree', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('shows every node, and what became of it', () => {
    const { screen, events, tree } = setUp(60, 20);
    tree.event(...events.dispatch('start'));
    tree.event(...events.start('start'));
    tree.event(...events.complete('start', { summary: 'it began' }));
    vi.advanceTimersByTime(100);
    expect(screen.lines()[0]).toBe('demo  r1  1/3  0 ms');
    expect(screen.lines()[1]).toMatch(/^✔ start +it began +0 ms$/);
    expect(screen.lines().slice(2, 4)).toEqual(['· first', '· second']);
    tree.end();
  });

  it('is redrawn in place, in one write a frame, and not at all when nothing has changed', () => {
    const { screen, events, tree } = setUp(60, 20);
    const before = screen.lines().length;
    vi.advanceTimersByTime(500);
    expect(screen.writes).toBe(1);
    tree.event(...events.dispatch('start'));
    tree.event(...events.start('start'));
    tree.event(...events.complete('start'));
    vi.advanceTimersByTime(500);
    expect(screen.writes).toBe(2);
    expect(screen.lines()).toHaveLength(before);
    tree.end();
  });

  it.each([10, 20, 30, 45, 200])('has no line wider than %i columns', (columns) => {
    const { screen, events, tree } = setUp(columns, 20);
    tree.event(...events.dispatch('start'));
    tree.event(...events.start('start'));
    tree.event(...events.complete('start', 'a long text '.repeat(20)));
    vi.advanceTimersByTime(100);
    tree.end();
    for (const line of screen.lines()) expect(line.length).toBeLessThan(columns);
  });

  it('never is taller than the screen while it lives, and is whole at the end', () => {
    const { screen, events, tree } = setUp(60, 4);
    expect(screen.lines()).toHaveLength(3);
    tree.event(...events.dispatch('start'));
    tree.event(...events.start('start'));
    vi.advanceTimersByTime(100);
    tree.end();
    expect(screen.lines()).toHaveLength(4);
  });

  it('makes room for a question and shows below it only what was not done before', () => {
    const { screen, events, tree } = setUp(60, 20);
    tree.event(...events.dispatch('start'));
    tree.event(...events.start('start'));
    tree.event(...events.complete('start'));
    tree.suspend();
    screen.out('Approve? yes\n');
    tree.resume();
    tree.end();
    const below = screen.lines().slice(screen.lines().indexOf('Approve? yes') + 1);
    expect(below.map((line) => line.split(' ')[1])).toEqual(['', 'first', 'second']);
  });
});

describe('plain lines', () => {
  it('say time, what, how, which node, position and words, one a change', () => {
    const terminal = { ...fakeTerminal(), now: () => Date.parse(at) };
    const events = new Events();
    events.next('run-started', { definition: { graph: { id: 'demo', kind: 'flow' } } });
    const lines = new PlainLines(terminal);
    lines.begin(events.fold.view());
    for (const event of [
      events.dispatch('start'),
      events.start('start'),
      events.complete('start', { summary: 'line\nbreak' }),
      events.next('run-finished', { outcome: 'fail', code: 'BAD', message: 'It broke.' }),
    ]) {
      lines.event(...event);
    }
    expect(terminal.written.out.split('\n')).toEqual([
      '00:00:00.000  run   started     r1  demo',
      '00:00:00.000  node  started     start  flow/start#1',
      '00:00:00.000  node  completed   start  flow/start#1  0 ms  line break',
      '00:00:00.000  run   finished    r1  fail  BAD  It broke.',
      '',
    ]);
  });
});
