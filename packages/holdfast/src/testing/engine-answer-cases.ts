/** Cases of the engine kit: what an answered call gives and tells. */

import type { AgentPart, EngineEvent } from '../engine/engine.ts';
import type { BenchCase } from './bench-case.ts';
import type { Answered, EngineBench } from './engine-bench.ts';
import type { EngineScenario } from './engine-fixture.ts';
import { expectSame, expectTrue } from './expectation.ts';

/** One statement about an engine, with what the model's side does meanwhile. */
export interface EngineCase extends BenchCase<EngineBench> {
  readonly scenario: EngineScenario;
}

const HELLO = 'Hello from the engine.';

function textsOf(parts: readonly AgentPart[]): readonly string[] {
  return parts.map((part) => (part.kind === 'assistant' ? part.text : '(structured)'));
}

function streamed(events: readonly EngineEvent[]): string {
  return events.map((event) => (event.kind === 'text' ? event.text : '')).join('');
}

function isHello({ result, events }: Answered): void {
  expectSame('the parts', textsOf(result.parts), [HELLO]);
  expectSame('the text that was told', streamed(events), HELLO);
}

/** Exactly one usage event, and it says what the result says. */
function expectOneUsage({ result, events }: Answered): void {
  const told = events.filter((event) => event.kind === 'usage');
  expectSame('how many usage events', told.length, 1);
  expectSame('the usage that was told', told[0]?.usage, result.usage);
}

export const answerCases: readonly EngineCase[] = [
  {
    name: 'a text is the final part, and is told while the call runs',
    scenario: 'text',
    run: async (bench) => {
      expectTrue('the engine has no name', bench.engine.name.trim() !== '');
      isHello(await bench.answered());
      expectSame('how many calls', bench.observed().length, 1);
    },
  },
  {
    name: 'parts and told texts are in the order in which they were said',
    scenario: 'parts',
    run: async (bench) => {
      const { result, events } = await bench.answered();
      expectSame('the parts', textsOf(result.parts), ['Looking.', 'Done.']);
      expectSame('the text that was told', streamed(events), 'Looking.Done.');
    },
  },
  {
    name: 'a structured answer is the final part, with its value',
    scenario: 'structured',
    run: async (bench) => {
      const { result } = await bench.answered({ request: { jsonSchema: ANSWER_SCHEMA } });
      const last = result.parts.at(-1);
      expectSame('the kind of the final part', last?.kind, 'structured');
      expectSame('its value', last?.kind === 'structured' && last.value, { answer: 42 });
    },
  },
  {
    name: 'usage that nobody reported stays unknown',
    scenario: 'unknown-usage',
    run: async (bench) => {
      const answered = await bench.answered();
      expectSame('the usage', answered.result.usage, { kind: 'unknown' });
      expectOneUsage(answered);
    },
  },
  {
    name: 'reported usage is given on unchanged',
    scenario: 'reported-usage',
    run: async (bench) => {
      const answered = await bench.answered();
      const { usage } = answered.result;
      expectSame('the kind', usage.kind, 'reported');
      if (usage.kind !== 'reported') return;
      expectSame('tokens in', usage.inputTokens, 5);
      expectSame('tokens out', usage.outputTokens, 3);
      expectOneUsage(answered);
    },
  },
  {
    name: 'a tool is told when it is used, then when its result is there',
    scenario: 'tools',
    run: async (bench) => {
      const { events } = await bench.answered();
      const tools = events.filter((event) => event.kind === 'tool');
      const phases = tools.map((event) => event.phase);
      expectSame('the phases', phases, ['use', 'result']);
      expectSame('the tool of the result', tools[1]?.name, tools[0]?.name);
      const [lastTool, lastText] = [events.findLastIndex(isTool), events.findLastIndex(isText)];
      expectTrue('the answer was told before the tool', lastText === -1 || lastTool < lastText);
    },
  },
  {
    name: 'a call does not see the one before it',
    scenario: 'text',
    run: async (bench) => {
      isHello(await bench.answered({ request: { prompt: `Say hello. ${FIRST}` } }));
      isHello(await bench.answered({ request: { prompt: `Say hello. ${SECOND}` } }));
      const [first, second, ...more] = bench.observed().map((call) => call.text);
      expectSame('calls beyond two', more.length, 0);
      expectTrue('the first prompt did not arrive', first?.includes(FIRST) === true);
      expectTrue('the second prompt did not arrive', second?.includes(SECOND) === true);
      expectTrue('the second call was given the first prompt', second?.includes(FIRST) !== true);
    },
  },
  {
    name: 'calls that overlap are apart, with what they tell',
    scenario: 'text',
    run: async (bench) => {
      const calls = await Promise.all([bench.answered(), bench.answered(), bench.answered()]);
      for (const call of calls) isHello(call);
      expectSame('how many calls', bench.observed().length, calls.length);
    },
  },
];

const FIRST = 'kit-mark-one';
const SECOND = 'kit-mark-two';

const ANSWER_SCHEMA = {
  type: 'object',
  properties: { answer: { type: 'number' } },
  required: ['answer'],
  additionalProperties: false,
};

function isTool(event: EngineEvent): boolean {
  return event.kind === 'tool';
}

function isText(event: EngineEvent): boolean {
  return event.kind === 'text';
}
