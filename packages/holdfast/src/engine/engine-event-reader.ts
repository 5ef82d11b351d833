/**
 * What an engine tells while it works, read into events that can be handed on: of known kinds, with
 * their own fields alone, frozen, sharing nothing with what the engine holds.
 */
import { readUsage } from './agent-result.ts';
import type { EngineEvent } from './engine.ts';
import { type Properties, propertiesOf } from './returned-value.ts';

/**
 * The event that `told` is; null for what is none. A field that may be left out is left out where
 * it is no text. It throws nothing.
 *
 * @example readEngineEvent({ kind: 'text', text: 'Hm', mine: {} }) // { kind: 'text', text: 'Hm' }
 */
export function readEngineEvent(told: unknown): EngineEvent | null {
  try {
    const event = eventOf(propertiesOf({ value: told, path: '' }, 'an event'));
    return event === null ? null : Object.freeze(event);
  } catch {
    return null;
  }
}

function eventOf(field: Properties): EngineEvent | null {
  const { value: kind } = field('kind');
  if (kind === 'text' || kind === 'thinking') {
    const text = textOf(field, 'text');
    return text === null ? null : { kind, text };
  }
  if (kind === 'tool') return toolEvent(field);
  if (kind !== 'usage') return null;
  return { kind, usage: readUsage(field('usage').value), ...optional(field, 'model') };
}

function toolEvent(field: Properties): EngineEvent | null {
  const name = textOf(field, 'name');
  const { value: phase } = field('phase');
  if (name === null || (phase !== 'use' && phase !== 'result')) return null;
  return { kind: 'tool', name, phase, ...optional(field, 'target') };
}

/** Half a surrogate pair is let through: the other half may come with the next event. */
function textOf(field: Properties, name: string): string | null {
  const { value } = field(name);
  return typeof value === 'string' ? value : null;
}

function optional<Name extends string>(
  field: Properties,
  name: Name,
): { readonly [key in Name]?: string } {
  const text = textOf(field, name);
  return text === null ? {} : ({ [name]: text } as { readonly [key in Name]: string });
}
