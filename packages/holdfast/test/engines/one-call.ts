/** One node on one lane of one engine that a test writes. */
import {
  type AgentResult,
  type Engine,
  type EngineNodeOptions,
  engineNode,
  engineSelection,
  type JsonObject,
  type MockResponder,
} from 'holdfast';
import { expect } from 'vitest';
import type { HandClock } from '../scenarios/world.ts';
import { laneWorld, target } from './world.ts';

export const big = target('big');
const requested = engineSelection({ ...big, capabilities: [] });
export const asked = { adapter: 'mock', provider: 'acme', modelFamily: 'm', model: 'big' };
export const answer = (text: string): AgentResult => ({
  parts: [{ kind: 'assistant', text, final: true }],
  usage: { kind: 'reported', inputTokens: 3, outputTokens: 4 },
  requested,
  effective: null,
});

/** Lets what is under way come to rest, and then time pass. */
export async function passing(clock: HandClock, ms: number) {
  await clock.rest();
  clock.pass(ms);
  await clock.rest();
}

export type Rules = Partial<EngineNodeOptions<never>>;

/** One node on one lane of one engine. */
export async function oneCall(run: Engine['run'], rules: Rules = {}) {
  const world = await laneWorld({
    targets: [big],
    responders: [],
    bindings: { a: engineNode({ prompt: () => 'hi', ...rules }) },
  });
  const engines = [{ target: big, engine: { name: 'own', run } }];
  const only = async (type: string): Promise<JsonObject | undefined> => {
    const all = await world.payloads(type);
    expect(all.length, type).toBeLessThan(2);
    return all[0];
  };
  return {
    ...world,
    open: (options?: Parameters<typeof world.open>[0]) => world.open({ engines, ...options }),
    only,
  };
}

/** One node whose mock engine answers like this. */
export async function oneReply(responder: MockResponder, rules: Rules = {}) {
  const world = await laneWorld({
    targets: [big],
    responders: [responder],
    bindings: { a: engineNode({ prompt: () => 'hi', ...rules }) },
  });
  const result = await (await world.open()).run();
  const [failed] = await world.payloads('node-failed');
  const [receipt] = await world.payloads('engine-attempt-recorded');
  return { world, result, failed, receipt };
}
