/**
 * A small language for what a configuration may hold: it checks one, and it finds the expressions
 * and templates inside.
 *
 * Invariant: one declaration serves both, so that no expression is run that was not checked.
 */
import { isJsonObject, type JsonValue, jsonPointer } from '../base/json.ts';
import { truncateText } from '../base/text.ts';

/** A condition gives true or false, a list expression a list; a template gives text or a value. */
export type SourceKind = 'condition' | 'list' | 'template';

interface Optional {
  readonly optional?: true;
}

export type FieldSpec = Optional &
  (
    | { readonly kind: 'text' | SourceKind | 'boolean' | 'json' }
    | { readonly kind: 'integer' | 'number'; readonly min: number; readonly max: number }
    | { readonly kind: 'choice'; readonly of: readonly string[] }
    | { readonly kind: 'object'; readonly fields: FieldSpecs }
    | { readonly kind: 'entries'; readonly fields: FieldSpecs }
  );

export type FieldSpecs = Readonly<Record<string, FieldSpec>>;

/** What is wrong with one field; `path` is a JSON pointer into the configuration. */
export interface ConfigIssue {
  readonly code: 'UNKNOWN_FIELD' | 'MISSING_FIELD' | 'INVALID_FIELD';
  readonly path: string;
  readonly message: string;
}

/** An expression or template that a configuration holds, and where. */
export interface ConfigSource {
  readonly kind: SourceKind;
  readonly source: string;
  readonly path: string;
}

/** Everything that is wrong with `config`. */
export function checkFields(specs: FieldSpecs, config: unknown): readonly ConfigIssue[] {
  return objectIssues(specs, config, '');
}

/** All expressions and templates in `config`, in the order of its declaration. */
export function fieldSources(specs: FieldSpecs, config: JsonValue): readonly ConfigSource[] {
  return objectSources(specs, config, '');
}

function objectIssues(specs: FieldSpecs, value: unknown, path: string): readonly ConfigIssue[] {
  if (!isJsonObject(value)) return [invalid(path, 'an object', value)];
  const unknown = Object.keys(value)
    .filter((name) => !Object.hasOwn(specs, name))
    .map((name): ConfigIssue => {
      const fields = Object.keys(specs).join(', ');
      const known = fields === '' ? 'there are none' : `the fields are ${fields}`;
      const message = `there is no field ${shown(name)}; ${known}`;
      return { code: 'UNKNOWN_FIELD', path: jsonPointer(path, name), message };
    });
  const known = Object.entries(specs).flatMap(([name, spec]) => {
    const at = jsonPointer(path, name);
    if (Object.hasOwn(value, name)) return fieldIssues(spec, value[name], at);
    if (spec.optional === true) return [];
    const message = `the field ${shown(name)} is missing`;
    return [{ code: 'MISSING_FIELD', path: at, message } as const];
  });
  return [...unknown, ...known];
}

function fieldIssues(spec: FieldSpec, value: unknown, path: string): readonly ConfigIssue[] {
  switch (spec.kind) {
    case 'json':
      return value === undefined ? [invalid(path, 'a JSON value', value)] : [];
    case 'boolean':
      return typeof value === 'boolean' ? [] : [invalid(path, 'true or false', value)];
    case 'text':
    case 'condition':
    case 'list':
    case 'template':
      return isText(value) ? [] : [invalid(path, 'a text that is not blank', value)];
    case 'integer':
    case 'number':
      return numberIssues(spec, value, path);
    case 'choice':
      return typeof value === 'string' && spec.of.includes(value)
        ? []
        : [invalid(path, `one of ${spec.of.join(', ')}`, value)];
    case 'object':
      return objectIssues(spec.fields, value, path);
    case 'entries':
      if (!Array.isArray(value) || value.length === 0) {
        return [invalid(path, 'a list of at least one entry', value)];
      }
      return value.flatMap((entry, index) =>
        objectIssues(spec.fields, entry, jsonPointer(path, index)),
      );
  }
}

function numberIssues(
  spec: { readonly kind: 'integer' | 'number'; readonly min: number; readonly max: number },
  value: unknown,
  path: string,
): readonly ConfigIssue[] {
  const isNumber = spec.kind === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (isNumber && (value as number) >= spec.min && (value as number) <= spec.max) return [];
  const article = spec.kind === 'integer' ? 'an integer' : 'a number';
  return [invalid(path, `${article} from ${spec.min} to ${spec.max}`, value)];
}

function objectSources(specs: FieldSpecs, value: JsonValue, path: string): readonly ConfigSource[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(specs).flatMap(([name, spec]) => {
    const field = Object.hasOwn(value, name) ? value[name] : undefined;
    return field === undefined ? [] : specSources(spec, field, jsonPointer(path, name));
  });
}

function specSources(spec: FieldSpec, value: JsonValue, path: string): readonly ConfigSource[] {
  switch (spec.kind) {
    case 'condition':
    case 'list':
    case 'template':
      return typeof value === 'string' ? [{ kind: spec.kind, source: value, path }] : [];
    case 'json':
      return templateSources(value, path);
    case 'object':
      return objectSources(spec.fields, value, path);
    case 'entries':
      return Array.isArray(value)
        ? value.flatMap((entry: JsonValue, index) =>
            objectSources(spec.fields, entry, jsonPointer(path, index)),
          )
        : [];
    default:
      return [];
  }
}

/** Every string inside a JSON value is a template. */
function templateSources(value: JsonValue, path: string): readonly ConfigSource[] {
  if (typeof value === 'string') return [{ kind: 'template', source: value, path }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) =>
    templateSources(entry as JsonValue, jsonPointer(path, key)),
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function invalid(path: string, expected: string, found: unknown): ConfigIssue {
  return { code: 'INVALID_FIELD', path, message: `expected ${expected}, found ${shown(found)}` };
}

/** A value as bounded text for a message. */
export function shown(value: unknown): string {
  return truncateText(JSON.stringify(value) ?? String(value), 80);
}
