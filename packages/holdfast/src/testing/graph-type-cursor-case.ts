/** The case of the graph-type kit for a type with a cursor of its own. */
import type { GraphEvent } from '../graph/graph-type.ts';
import { same } from './graph-type-cases.ts';
import { type AnyFixture, freshInstance, replay, thawed } from './graph-type-fixture.ts';

/**
 * The own cursor answers what the plain operations answer: at every event, repeated, without
 * having been asked in between, and opened again at every event from what it saved.
 */
export function ownCursor(fixture: AnyFixture): void {
  const plain = freshInstance(fixture);
  const states = replay(plain, fixture.events);
  const events = fixture.events as readonly GraphEvent[];
  const asked = freshInstance(fixture).open();
  states.forEach((state, index) => {
    const before = events[index - 1];
    if (before !== undefined) asked.apply(thawed(before));
    const at = `after ${index} events`;
    const decision = plain.decide(state);
    same(asked.decide(), decision, `the cursor's decision ${at}`);
    same(asked.state(), state, `the cursor's state ${at}`);
    same(asked.decide(), decision, `the cursor's decision ${at}, asked again`);
    const opened = freshInstance(fixture).open(thawed(asked.save()));
    same(opened.state(), state, `the state of a cursor opened again ${at}`);
    same(opened.decide(), decision, `the decision of a cursor opened again ${at}`);
    for (const event of events.slice(index)) opened.apply(thawed(event));
    same(opened.state(), states.at(-1), `the last state of a cursor opened again ${at}`);
    same(
      opened.decide(),
      plain.decide(states.at(-1) ?? null),
      `the last decision of a cursor opened again ${at}`,
    );
  });
  const quiet = freshInstance(fixture).open();
  for (const event of events) quiet.apply(thawed(event));
  const last = 'of a cursor that was not asked in between';
  same(quiet.state(), states.at(-1), `the last state ${last}`);
  same(quiet.decide(), plain.decide(states.at(-1) ?? null), `the last decision ${last}`);
}
