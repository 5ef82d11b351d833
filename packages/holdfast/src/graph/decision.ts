/**
 * Validates what `decide` returns: zero or more dispatches, or exactly one pause, complete or fail.
 *
 * Invariants of a validated decision: frozen JSON, declared nodes, positions distinct and at most
 * `MAX_POSITION_BYTES` long. The commands are frozen in place: a decision is given away.
 */
import { textFault } from '../base/identifier.ts';
import { freezeJson, isFrozenJson, isJsonObject, type JsonObject } from '../base/json.ts';
import { utf8Length } from '../base/text.ts';
import { LONGEST_DELAY_MS } from '../base/time.ts';
import type { GraphCommand } from './commands.ts';
import { isPositiveInteger, shown } from './shape-check.ts';
import { type GraphIssue, GraphValidationError, jsonIssue } from './validation-error.ts';

/** The longest position, in UTF-8 bytes. */
export const MAX_POSITION_BYTES = 1024;

const CODE = 'INVALID_GRAPH_COMMAND';
const FIELDS: Readonly<Record<GraphCommand['kind'], readonly string[]>> = {
  dispatch: ['kind', 'nodeId', 'input', 'position'],
  pause: ['kind', 'reason'],
  complete: ['kind', 'output'],
  fail: ['kind', 'code', 'message'],
};
const TEXTS: Readonly<Record<GraphCommand['kind'], readonly string[]>> = {
  dispatch: ['position'],
  pause: ['reason'],
  complete: [],
  fail: ['code', 'message'],
};
const DISPATCH_OPTIONS = ['delayMs', 'retryOf'];

/**
 * The decision, frozen. Throws `GraphValidationError` (`INVALID_GRAPH_COMMAND`) with all issues.
 *
 * @example validateDecision([{ kind: 'pause', reason: 'no worker' }], () => true)
 */
export function validateDecision(
  decision: unknown,
  isNode: (nodeId: string) => boolean,
): readonly GraphCommand[] {
  const commands = frozenDecision(decision);
  const issues: GraphIssue[] = [];
  for (let index = 0; index < commands.length; index += 1) {
    checkCommand(commands[index], index, isNode, issues);
  }
  if (commands.length > 1) checkTogether(commands, issues);
  if (issues.length > 0) throw new GraphValidationError('Invalid graph command.', issues);
  return commands as readonly GraphCommand[];
}

function frozenDecision(decision: unknown): readonly unknown[] {
  if (!Array.isArray(decision)) {
    const message = `a decision is an array of commands, found ${typeof decision}`;
    throw new GraphValidationError('Invalid graph command.', [{ code: CODE, path: '', message }]);
  }
  if (isFrozenJson(decision)) return decision;
  try {
    return freezeJson<readonly unknown[]>(decision);
  } catch (error) {
    throw new GraphValidationError('Invalid graph command.', [jsonIssue(error, '', CODE)]);
  }
}

function checkCommand(
  command: unknown,
  index: number,
  isNode: (nodeId: string) => boolean,
  issues: GraphIssue[],
): void {
  const note = (path: string, message: string): void => {
    issues.push({ code: CODE, path: `/${index}${path}`, message });
  };
  if (!isJsonObject(command)) {
    note('', `expected a command, found ${shown(command)}`);
    return;
  }
  const kind = command['kind'];
  if (!isKind(kind)) {
    note('/kind', `expected dispatch, pause, complete or fail, found ${shown(kind)}`);
    return;
  }
  checkFields(command, kind, note);
  for (const name of TEXTS[kind]) {
    const value = command[name];
    const check = name === 'message' ? messageFault : textFault;
    const fault = value === undefined ? null : check(value);
    if (fault !== null) note(`/${name}`, `${fault}: ${shown(command[name])}`);
  }
  if (kind === 'dispatch') checkDispatch(command, isNode, note);
}

/** A failure's message is for people and often quotes a node's: it may have lines. */
function messageFault(value: unknown): string | null {
  return textFault(typeof value === 'string' ? value.replace(/[\t\r\n]+/g, ' ') : value);
}

function isKind(kind: unknown): kind is GraphCommand['kind'] {
  return kind === 'dispatch' || kind === 'complete' || kind === 'pause' || kind === 'fail';
}

type Note = (path: string, message: string) => void;

function checkFields(command: JsonObject, kind: GraphCommand['kind'], note: Note): void {
  const fields = FIELDS[kind];
  for (const name of fields) {
    if (command[name] === undefined) note(`/${name}`, `a ${kind} needs the field "${name}"`);
  }
  for (const name of Object.keys(command)) {
    if (fields.includes(name)) continue;
    if (kind === 'dispatch' && DISPATCH_OPTIONS.includes(name)) continue;
    note(`/${name}`, `a ${kind} has no field "${name}"`);
  }
}

function checkDispatch(command: JsonObject, isNode: (nodeId: string) => boolean, note: Note): void {
  const { nodeId, position, delayMs, retryOf } = command;
  if (nodeId !== undefined && (typeof nodeId !== 'string' || !isNode(nodeId))) {
    note('/nodeId', `there is no node ${shown(nodeId)}`);
  }
  if (isTooLong(position)) note('/position', `at most ${MAX_POSITION_BYTES} bytes`);
  const isDelay = delayMs === 0 || (isPositiveInteger(delayMs) && delayMs <= LONGEST_DELAY_MS);
  if (delayMs !== undefined && !isDelay) {
    const expected = `whole milliseconds from 0 to ${LONGEST_DELAY_MS}`;
    note('/delayMs', `expected ${expected}, found ${shown(delayMs)}`);
  }
  if (retryOf === undefined) return;
  const fault = textFault(retryOf);
  if (fault !== null) note('/retryOf', `${fault}: ${shown(retryOf)}`);
  else if (isTooLong(retryOf)) note('/retryOf', `at most ${MAX_POSITION_BYTES} bytes`);
}

function isTooLong(text: unknown): boolean {
  if (typeof text !== 'string' || text.length * 3 <= MAX_POSITION_BYTES) return false;
  return utf8Length(text) > MAX_POSITION_BYTES;
}

/** Rules between commands: an end stands alone, and no position stands twice. */
function checkTogether(commands: readonly unknown[], issues: GraphIssue[]): void {
  const positions = new Set<unknown>();
  commands.forEach((command, index) => {
    if (!isJsonObject(command)) return;
    if (command['kind'] !== 'dispatch') {
      if (!isKind(command['kind'])) return;
      const message = `a ${command['kind']} must be the only command of its decision`;
      issues.push({ code: CODE, path: `/${index}`, message });
      return;
    }
    const position = command['position'];
    if (typeof position === 'string' && positions.has(position)) {
      const message = `the position ${shown(position)} stands twice in one decision`;
      issues.push({ code: CODE, path: `/${index}/position`, message });
    }
    positions.add(position);
  });
}
