/** From a call to its result: what every adapter does around its own storage. */
import { errorText } from '../base/errors.ts';
import { freezeJson, type JsonValue } from '../base/json.ts';
import { oneLine } from '../base/text.ts';
import type { MemoryCommand, MemoryError, MemoryResult } from './memory.ts';
import { checkedCommand, commandName } from './memory-command.ts';
import { Refusal } from './refusal.ts';

const SHOWN_LENGTH = 200;

/** What the value of a command is, once it is carried out. */
export type Carried = { readonly value: JsonValue } | Refusal;

/**
 * The result of one call; it never rejects. `given` is copied and checked, and `carryOut` called,
 * before this returns: later changes of the caller's object do nothing, and calls keep their order.
 */
export async function answerCall(
  given: unknown,
  carryOut: (command: MemoryCommand) => Carried | Promise<Carried>,
): Promise<MemoryResult> {
  const command = checkedCommand(given);
  if (command instanceof Refusal) return refused(commandName(given), command);
  const name = command.command;
  try {
    const carried = await carryOut(command);
    if (carried instanceof Refusal) return refused(name, carried);
    return Object.freeze({ ok: true, command: name, value: carried.value });
  } catch (error) {
    const what = oneLine(errorText(error), SHOWN_LENGTH, 'it did not say why');
    return refused(name, new Refusal('STORAGE_ERROR', `The storage failed: ${what}.`));
  }
}

function refused(command: string, { error }: Refusal): MemoryResult {
  return Object.freeze({ ok: false, command, error: freezeJson<MemoryError>(error) });
}
