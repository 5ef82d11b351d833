/** Nodes that wait for a person, a signal, or time. */
import {
  type NodeBinding,
  nodeBinding,
  type PositionRecord,
  type WaitEndings,
} from '../../attempt/binding.ts';
import type { AttemptOutcome } from '../../attempt/outcome.ts';
import { HoldfastError } from '../../base/errors.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { compileTemplate } from '../../expression/template.ts';
import type { ApprovalConfig, SignalConfig } from '../../flow/node-config.ts';
import { waitFor } from '../wait-node.ts';
import { expressionValues } from './flow-scope.ts';
import type { NodeSetting } from './node-setting.ts';

/** `approval`: leaves by `approved` or `rejected`; its output is `{ approved, answer }`. */
export function approvalNode(config: ApprovalConfig, setting: NodeSetting): NodeBinding {
  const prompt = textOf(config.prompt, 'prompt', setting);
  return nodeBinding({
    retrySafe: true,
    run: (input, context, record) =>
      waitFor({ kind: 'approval', prompt: prompt(input, context.runId) }, config, record),
    endings: {
      answered: (answer) => decided(verdict(answer), answer),
      expired: (record) => expiredApproval(config, record),
    },
  });
}

/** `signal`: leaves by `out` with the payload, or by `timeout`. */
export function signalNode(config: SignalConfig, setting: NodeSetting): NodeBinding {
  const name = textOf(config.name, 'name', setting);
  const endings: WaitEndings = {
    answered: (answer) => completed({ branch: 'out', output: answer }),
    signalled: (payload) => completed({ branch: 'out', output: payload }),
    expired: () => completed({ branch: 'timeout' }),
  };
  return nodeBinding({
    retrySafe: true,
    run: (input, context, record) =>
      waitFor({ kind: 'signal', name: name(input, context.runId) }, config, record),
    endings,
  });
}

function textOf(template: string, field: string, setting: NodeSetting) {
  const at = { nodeId: setting.node.id, field: `/config/${field}` };
  const compiled = compileTemplate(template, setting.scope, { at });
  return (input: JsonValue, runId: string): string => {
    const value = compiled.evaluate(expressionValues(input, runId));
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
}

/** Accepts true, false, "approved", "rejected", and objects with `approved: true | false`. */
function verdict(answer: JsonValue): boolean {
  const said = isJsonObject(answer) ? answer['approved'] : answer;
  if (said === true || said === 'approved') return true;
  if (said === false || said === 'rejected') return false;
  throw new HoldfastError(
    'ANSWER_INVALID',
    'An approval is answered with true, false, "approved", "rejected", or an object with ' +
      '"approved": true or false.',
  );
}

function decided(approved: boolean, answer: JsonValue): AttemptOutcome {
  return completed({
    branch: approved ? 'approved' : 'rejected',
    output: { approved, answer },
  });
}

function expiredApproval(config: ApprovalConfig, record: PositionRecord): AttemptOutcome {
  if (config.onDeadline !== 'fail') return decided(false, null);
  const message = `${record.nodeId} was not answered by ${record.dueAt}.`;
  return { kind: 'failed', code: 'DEADLINE_PASSED', message, retryable: false };
}

function completed(result: JsonValue): AttemptOutcome {
  return { kind: 'completed', result };
}
