/** What a graph tells a host before anything runs: the shapes. Seed 003, "Describe the graph". */
import type { Sha256Digest } from '../base/digest.ts';
import type { JsonValue } from '../base/json.ts';
import type { ExecutionLaneDescription } from './execution-target.ts';
import type { GraphRequirements } from './requirements.ts';

/** A number the graph can calculate, or the reason why it cannot. */
export type PlanBound =
  | { readonly kind: 'known'; readonly value: number }
  | { readonly kind: 'unknown'; readonly reason: string };

/** How much work a run of the graph can be. */
export interface GraphBounds {
  readonly dispatches: { readonly min: PlanBound; readonly max: PlanBound };
  readonly maxConcurrency: PlanBound;
  /** The most dispatches in one decision. */
  readonly maxFanOut: PlanBound;
}

/** A named part of a graph and the nodes in it; every node is in one. */
export interface GraphPhaseDescription {
  readonly id: string;
  readonly name: string;
  readonly nodeIds: readonly string[];
}

/** What a node takes and gives (JSON that a host understands), and its lane, if it has one. */
export interface GraphNodeDescription {
  readonly id: string;
  readonly phaseId: string;
  readonly inputContract: JsonValue;
  readonly outputContract: JsonValue;
  readonly laneId: string | null;
}

/** Any JSON that a host understands; null = the graph has no such policy. */
export interface GraphPolicies {
  readonly retry: JsonValue;
  readonly stop: JsonValue;
  readonly concurrency: JsonValue;
  readonly write: JsonValue;
  readonly budget: JsonValue;
  readonly action: JsonValue;
}

/** Something a graph asks to be allowed, within a scope (any JSON). */
export interface GraphPermission {
  readonly name: string;
  readonly scope: JsonValue;
}

/** What a graph type's own `describe()` returns; the compiler supplies the rest. */
export interface GraphDescriptionInput {
  readonly inputContract: JsonValue;
  readonly outputContract: JsonValue;
  readonly phases: readonly GraphPhaseDescription[];
  /** In definition node declaration order. */
  readonly nodes: readonly GraphNodeDescription[];
  readonly policies: GraphPolicies;
  readonly executionLanes: readonly ExecutionLaneDescription[];
  readonly requestedPermissions: readonly GraphPermission[];
  readonly bounds: GraphBounds;
}

/** Which graph a description or plan is about. */
export interface GraphIdentity {
  readonly id: string;
  readonly definitionVersion: number;
  readonly kind: string;
  readonly typeVersion: number;
  readonly definitionDigest: Sha256Digest;
}

/** An edge of the definition, without its data. */
export interface GraphEdgeDescription {
  readonly id: string;
  readonly source: string;
  readonly target: string;
}

/** A complete description, as a host inspects it. */
export interface GraphDescription extends GraphDescriptionInput {
  readonly schemaVersion: 1;
  readonly graph: GraphIdentity;
  readonly edges: readonly GraphEdgeDescription[];
  readonly requirements: GraphRequirements;
}
