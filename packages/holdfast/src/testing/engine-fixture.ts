/** What the engine kit asks of an engine's author: scenarios, and a look at the model's side. */
import type { EngineFailureKind } from '../base/engine-failure.ts';
import type { EngineSelectionRecord, GraphEngineIdentity } from '../base/engine-identity.ts';
import type { AgentRequest, Engine } from '../engine/engine.ts';

/** The failures that something outside an engine can provoke. */
export type ProvokedFailure = Exclude<EngineFailureKind, 'aborted'>;

/**
 * What the model's side of an engine (a stub service, a stub tool) does in a case.
 *
 * | scenario | the model's side |
 * | --- | --- |
 * | `text` | answers `Hello from the engine.` |
 * | `parts` | says `Looking.`, then answers `Done.` as a second text |
 * | `structured` | answers `{ "answer": 42 }`, as a structured value |
 * | `unknown-usage` | answers anything, and says nothing of usage |
 * | `reported-usage` | answers anything, and reports 5 tokens in and 3 out |
 * | `tools` | uses a tool, gets its result, then answers anything |
 * | `hang` | never answers |
 * | `preflight-transient` | fails each call in a way that may pass |
 * | `admit` | static checks are on; it need not answer |
 * | `failure:<kind>` | fails so that the engine must call it by that kind |
 */
export type EngineScenario =
  | 'text'
  | 'parts'
  | 'structured'
  | 'unknown-usage'
  | 'reported-usage'
  | 'tools'
  | 'hang'
  | 'preflight-transient'
  | 'admit'
  | `failure:${ProvokedFailure}`;

/** One call as the model's side has seen it. */
export interface ObservedCall {
  /** All text that the model was given. */
  readonly text: string;
  /** The tools it was offered, by name. */
  readonly tools: readonly string[];
}

/** An engine over a model's side that plays one scenario. */
export interface OpenedEngine {
  readonly engine: Engine;
  /** The calls that have reached the model's side so far, oldest first. */
  observed(): readonly ObservedCall[];
  close?(): void | Promise<void>;
}

/** How the kit gets at an engine. */
export interface EngineConformanceFixture {
  /** An ordinary request; the kit changes its prompt, and what a check before a run changes. */
  readonly request: AgentRequest;
  /** The identity that it asks for; its capabilities are the request's tools. */
  readonly requested: EngineSelectionRecord;
  /** The identity that the engine reports; null when it reports none. */
  readonly effective: GraphEngineIdentity | null;
  /** Called once a case. */
  open(scenario: EngineScenario): OpenedEngine | Promise<OpenedEngine>;
  /** Scenarios that this engine cannot have, each with the reason; never `text` or `hang`. */
  readonly unsupported?: Readonly<Partial<Record<EngineScenario, string>>>;
}
