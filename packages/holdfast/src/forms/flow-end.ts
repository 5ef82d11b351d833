/** How a flow's run ends, as commands. */
import { type JsonValue, setOwn } from '../base/json.ts';
import { oneLine } from '../base/text.ts';
import type { PlanRejection } from '../flow/outcome.ts';
import type { GraphCommand } from '../graph/commands.ts';
import type { FlowInputSource } from './flow-input.ts';
import type { FlowFailure } from './flow-state.ts';

const NAMES_SHOWN = 5;
const MESSAGE_LENGTH = 1_000;

/** Fails the run for the first node that failed for good. */
export function failedCommand(failures: readonly FlowFailure[]): GraphCommand {
  const [first, ...others] = failures;
  const node = JSON.stringify(first?.nodeId);
  const what = `Node ${node} failed with ${first?.code}: ${first?.message}`;
  const names = others.slice(0, NAMES_SHOWN).map(({ nodeId, code }) => `${nodeId} (${code})`);
  const more = others.length > NAMES_SHOWN ? ` and ${others.length - NAMES_SHOWN} more` : '';
  const also = others.length === 0 ? '' : ` Also failed: ${names.join(', ')}${more}.`;
  // A node's message may have lines; the run's is one.
  return fail('FLOW_NODE_FAILED', `${oneLine(what, MESSAGE_LENGTH, node)}${also}`);
}

/** Ends a settled run: with its outputs, its next run, or its rejection. */
export function settledCommand(source: FlowInputSource): GraphCommand {
  const { form, plan, outputs } = source;
  const [rejection] = plan.rejections();
  if (rejection !== undefined) return fail('FLOW_REJECTED', whyRejected(rejection));
  const done = form.nodes.map((_node, index) => plan.status(index) === 'succeeded');
  const next = form.nodes.findIndex(({ type }, index) => type === 'continue-as-new' && done[index]);
  if (next >= 0) {
    return { kind: 'complete', output: { continueAs: { input: outputs.get(next) ?? null } } };
  }
  const nodes: Record<string, JsonValue> = {};
  form.nodes.forEach(({ id }, index) => {
    if (done[index]) setOwn(nodes, id, outputs.get(index) ?? null);
  });
  return { kind: 'complete', output: { nodes } };
}

/** Pauses for these nodes. */
export function pauseCommand(ids: readonly string[]): GraphCommand {
  const names = ids.slice(0, NAMES_SHOWN).join(', ');
  const more = ids.length > NAMES_SHOWN ? ` and ${ids.length - NAMES_SHOWN} more` : '';
  return { kind: 'pause', reason: `Waiting for ${names}${more}.` };
}

function whyRejected({ nodeId, kind, branch }: PlanRejection): string {
  const node = JSON.stringify(nodeId);
  if (kind === 'refused') return `${node} ended on "${branch}", and no edge leads on from there.`;
  if (kind === 'stuck') return `The body of the loop ${node} ended without reaching its next.`;
  return `${node} was never reached: a node before it did not come to an end.`;
}

function fail(code: string, message: string): GraphCommand {
  return { kind: 'fail', code, message };
}
