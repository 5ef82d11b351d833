/** The fixture of the graph-type kit, and the ways a kit drives a graph type. */
import { cloneFrozenJson, type JsonValue } from '../base/json.ts';
import type { GraphCommand } from '../graph/commands.ts';
import { compileGraph } from '../graph/compile.ts';
import type { AnyGraphDefinition } from '../graph/definition.ts';
import type { GraphBounds } from '../graph/description.ts';
import type { CompiledGraphType, GraphType } from '../graph/graph-type.ts';
import type { PlanResolution } from '../graph/plan.ts';
import type { GraphRequirements } from '../graph/requirements.ts';

/**
 * What a graph type is held against: seed 003, "Conformance".
 *
 * `expected.states` and `expected.commands` have one entry more than `events`: the initial one,
 * then one after each event. Each decision lists only new requests. `invalidDefinitions` must
 * not be empty.
 */
export interface GraphTypeConformanceFixture<
  Definition extends AnyGraphDefinition,
  State,
  Event,
  Requirements extends GraphRequirements = GraphRequirements,
> {
  readonly graphType: GraphType<Definition, State, Event, Requirements>;
  readonly definition: Definition;
  readonly events: readonly Event[];
  readonly invalidDefinitions: readonly unknown[];
  readonly planResolution: PlanResolution;
  readonly expected: {
    readonly states: readonly State[];
    readonly commands: readonly (readonly GraphCommand[])[];
    readonly bounds: GraphBounds;
  };
}

/** A fixture whose types are no longer of interest. */
export type AnyFixture = GraphTypeConformanceFixture<AnyGraphDefinition, JsonValue, unknown>;

export type AnyCompiled = CompiledGraphType<AnyGraphDefinition, JsonValue, unknown>;

/** A compiled instance of its own, over copies that nobody else holds. */
export function freshInstance(fixture: AnyFixture): AnyCompiled {
  return compileGraph(fixture.graphType, thawed(fixture.definition));
}

/** True when the graph type brings a cursor of its own. */
export function hasOwnCursor({ graphType, definition }: AnyFixture): boolean {
  let own = false;
  compileGraph(
    {
      kind: graphType.kind,
      version: graphType.version,
      compile: (value: AnyGraphDefinition, kernel) => {
        const compilation = graphType.compile(value, kernel);
        own = typeof compilation.open === 'function';
        return compilation;
      },
    },
    thawed(definition),
  );
  return own;
}

/** A copy that shares nothing with `value`, as if it had been stored and read again. */
export function thawed<T>(value: T): T {
  return JSON.parse(JSON.stringify(cloneFrozenJson(value))) as T;
}

/** The states of one instance: the initial one, then one after each event. */
export function replay(instance: AnyCompiled, events: readonly unknown[]): readonly JsonValue[] {
  const states = [instance.initialState()];
  for (const event of events) {
    states.push(instance.reduce(states.at(-1) ?? null, thawed(event)));
  }
  return states;
}
