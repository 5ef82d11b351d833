/** What an engine is asked for a node, but for the prompt: checks before a run ask the same. */
import type { AgentAttempt, AgentRequest } from '../engine/engine.ts';
import type { NodeBinding } from './binding.ts';
import type { EngineSeat, EngineWork } from './engine-work.ts';

/** One call of a node. */
export interface RequestedCall {
  readonly seat: EngineSeat;
  readonly binding: NodeBinding;
  readonly work: EngineWork;
  /** Milliseconds; null = no limit. */
  readonly timeoutMs: number | null;
  readonly attempt: AgentAttempt;
}

/** The request of a call, without its prompt. */
export function engineRequest(call: RequestedCall): Omit<AgentRequest, 'prompt'> {
  const { seat, binding, work, timeoutMs, attempt } = call;
  const { selection } = seat;
  return {
    tools: selection.capabilities,
    allowedTools: work.permissions,
    workspaceMode: binding.workspace.mode,
    timeoutGraceMs: binding.graceMs,
    attempt,
    ...given('system', work.system),
    ...given('model', selection.model),
    ...given('maxTokens', work.callTokens?.tokens ?? null),
    ...given('jsonSchema', work.schema),
    ...given('cwd', binding.workspace.directory ?? work.scratchDirectory),
    ...given('timeoutMs', timeoutMs),
    ...given('maxOutputBytes', binding.limits.outputBytes),
    ...given('maxMemoryBytes', work.memoryBytes),
  };
}

/** A field, where there is something to say. */
export function given<Key extends string, Value>(
  key: Key,
  value: Value | null,
): { [K in Key]?: Value } {
  return value === null ? {} : ({ [key]: value } as { [K in Key]: Value });
}
