/** Completes what a graph type's `describe()` gives with what the compiler knows. */
import { freezeJson, type JsonValue } from '../base/json.ts';
import type { AnyGraphDefinition, CompiledGraphDefinition } from './definition.ts';
import type { GraphDescription, GraphDescriptionInput } from './description.ts';
import type { GraphRequirements } from './requirements.ts';
import { validatedDescription } from './validate-description.ts';
import { GraphValidationError, jsonIssue } from './validation-error.ts';

/** What the compiler knows of the graph that is described. */
export interface DescribedGraph {
  readonly graphType: { readonly kind: string; readonly version: number };
  readonly compiledDefinition: CompiledGraphDefinition<AnyGraphDefinition>;
  readonly requirements: GraphRequirements;
}

/**
 * The complete description, validated. Throws `GraphValidationError`: the description's own issues,
 * or `DESCRIPTION_MISMATCH` when its nodes are not the definition's, in declaration order.
 */
export function completeDescription(
  input: GraphDescriptionInput,
  { graphType, compiledDefinition, requirements }: DescribedGraph,
): GraphDescription {
  const { id, definitionVersion, nodes, edges } = compiledDefinition.value;
  const complete = {
    ...input,
    schemaVersion: 1,
    graph: {
      id,
      definitionVersion,
      kind: graphType.kind,
      typeVersion: graphType.version,
      definitionDigest: compiledDefinition.digest,
    },
    edges: edges.map(({ id: edgeId, source, target }) => ({ id: edgeId, source, target })),
    requirements,
  };
  const description = validatedDescription(givenAway(complete));
  const inOrder =
    description.nodes.length === nodes.length &&
    nodes.every((node, index) => node.id === description.nodes[index]?.id);
  if (inOrder) return description;
  const message = 'must name every definition node once, in declaration order';
  throw new GraphValidationError('Graph description is invalid.', [
    { code: 'DESCRIPTION_MISMATCH', path: '/nodes', message },
  ]);
}

/** What `describe()` returned is given away: it is frozen in place. */
function givenAway(description: unknown): JsonValue {
  try {
    return freezeJson(description);
  } catch (error) {
    throw new GraphValidationError('Graph description is invalid.', [jsonIssue(error, '')]);
  }
}
