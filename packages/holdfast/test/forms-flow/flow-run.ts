/** Drives a compiled flow as an executor does, with events made by hand. */
import {
  compileGraph,
  type DispatchCommand,
  type FlowFile,
  flowDefinition,
  flowGraphType,
  type GraphCommand,
  type GraphCursor,
  type GraphEvent,
  type JsonValue,
} from 'holdfast';
import type { FlowGraph } from 'holdfast/flow';

const AT = '2026-11-30T10:00:00.000Z';

export function compiledFlow(graph: FlowGraph | Omit<FlowFile, 'id'>) {
  return compileGraph(flowGraphType, flowDefinition({ id: 'test', ...graph }));
}

export type CompiledFlow = ReturnType<typeof compiledFlow>;

export const event = (type: string, payload: Record<string, JsonValue>): GraphEvent => ({
  type,
  version: 1,
  payload: { ...payload, at: AT },
});

export const dispatched = ({ nodeId, position, retryOf }: DispatchCommand): GraphEvent =>
  event('node-dispatched', {
    nodeId,
    position,
    inputDigest: `sha256:${'0'.repeat(64)}`,
    decidedAt: 1,
    ...(retryOf !== undefined && { retryOf }),
  });

export interface Failure {
  readonly code?: string;
  readonly retryable?: boolean;
  readonly abandoned?: true;
}

/** One run: its cursor, its events, and what was dispatched. */
export class FlowRun {
  readonly compiled: CompiledFlow;
  readonly events: GraphEvent[] = [];
  readonly dispatches: DispatchCommand[] = [];
  cursor: GraphCursor<unknown>;

  constructor(compiled: CompiledFlow) {
    this.compiled = compiled;
    this.cursor = compiled.open();
  }

  apply(item: GraphEvent): void {
    this.events.push(item);
    this.cursor.apply(item);
  }

  /** Decides, records the dispatches, and gives the commands. */
  turn(): readonly GraphCommand[] {
    const commands = this.cursor.decide();
    this.record(commands);
    return commands;
  }

  record(commands: readonly GraphCommand[]): void {
    for (const command of commands) {
      if (command.kind !== 'dispatch') continue;
      this.dispatches.push(command);
      this.apply(dispatched(command));
    }
  }

  /** The last dispatch of a node. */
  last(nodeId: string): DispatchCommand {
    const found = this.dispatches.findLast((dispatch) => dispatch.nodeId === nodeId);
    if (found === undefined) throw new Error(`${nodeId} was not dispatched`);
    return found;
  }

  /** Completes the last dispatch of a node and takes the next turn. */
  complete(nodeId: string, result: JsonValue = {}): readonly GraphCommand[] {
    const { position } = this.last(nodeId);
    this.apply(event('node-completed', { nodeId, position, result }));
    return this.turn();
  }

  fail(nodeId: string, failure: Failure = {}): readonly GraphCommand[] {
    const { position } = this.last(nodeId);
    const payload = { code: 'EFFECT_FAILED', message: 'no luck', retryable: true, ...failure };
    this.apply(event('node-failed', { nodeId, position, ...payload }));
    return this.turn();
  }

  pause(nodeId: string): readonly GraphCommand[] {
    const { position } = this.last(nodeId);
    this.apply(
      event('node-paused', { nodeId, position, reason: 'asked', request: { kind: 'approval' } }),
    );
    return this.turn();
  }

  resume(nodeId: string): readonly GraphCommand[] {
    this.apply(event('node-resumed', { nodeId, position: this.last(nodeId).position }));
    return this.turn();
  }

  /** Takes the first turn and completes the trigger. */
  start(input: JsonValue = null): readonly GraphCommand[] {
    const [first] = this.turn();
    if (first?.kind !== 'dispatch') throw new Error('a run begins with its trigger');
    return this.complete(first.nodeId, { output: input });
  }
}

export const positionsOf = (commands: readonly GraphCommand[]): readonly string[] =>
  commands.map((command) => (command.kind === 'dispatch' ? command.position : command.kind));
