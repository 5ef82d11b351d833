/**
 * The functions and methods of the language. None reads a clock, a random source or a locale, and
 * none takes a regular expression: its cost could not be bounded.
 *
 * Invariant: text is counted in code points, so that no function cuts a surrogate pair.
 */
import type { JsonArray } from '../base/json.ts';
import type { CallSite } from './call-site.ts';
import { quoted } from './expression-error.ts';
import { type ExpressionFunction, functionOf, methodOf } from './function-definition.ts';
import { MATH_FUNCTIONS } from './math-functions.ts';
import type { StaticType } from './value-type.ts';

const NUMBER_TEXT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER_TEXT = /^-?\d+$/;

const CONVERSIONS: readonly ExpressionFunction[] = [
  functionOf('string', ['string'], 'string', ([text]) => text),
  functionOf('string', ['number'], 'string', ([number]) => String(number)),
  functionOf('string', ['boolean'], 'string', ([flag]) => String(flag)),
  functionOf('double', ['number'], 'number', ([number]) => number),
  functionOf('double', ['string'], 'number', ([text], call) => {
    const number = NUMBER_TEXT.test(text) ? Number(text) : Number.NaN;
    if (!Number.isFinite(number)) call.fail('EXPRESSION_TYPE', `${quoted(text)} is no number`);
    return number;
  }),
  functionOf('int', ['number'], 'number', ([number]) => Math.trunc(number)),
  functionOf('int', ['string'], 'number', ([text], call) => {
    const number = INTEGER_TEXT.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(number)) {
      call.fail('EXPRESSION_TYPE', `${quoted(text)} is no integer that a JSON number holds`);
    }
    return number;
  }),
  functionOf('bool', ['boolean'], 'boolean', ([flag]) => flag),
  functionOf('bool', ['string'], 'boolean', ([text], call) => {
    if (text === 'true') return true;
    if (text === 'false') return false;
    return call.fail('EXPRESSION_TYPE', `${quoted(text)} is neither "true" nor "false"`);
  }),
  functionOf('dyn', ['any'], 'any', ([value]) => value),
];

const SIZES: readonly ExpressionFunction[] = [functionOf, methodOf].flatMap((define) => [
  define('size', ['string'], 'number', ([text], call) => codePoints(text, call).length),
  define('size', ['list'], 'number', ([list]) => list.length),
  define('size', ['map'], 'number', ([map], call) => {
    const { length } = Object.keys(map);
    call.spend(length);
    return length;
  }),
]);

const SEARCHES: readonly ExpressionFunction[] = [
  methodOf('contains', ['string', 'string'], 'boolean', ([text, part], call) => {
    call.spendText(text.length + part.length);
    return text.includes(part);
  }),
  methodOf('startsWith', ['string', 'string'], 'boolean', ([text, part], call) => {
    call.spendText(part.length);
    return text.startsWith(part);
  }),
  methodOf('endsWith', ['string', 'string'], 'boolean', ([text, part], call) => {
    call.spendText(part.length);
    return text.endsWith(part);
  }),
  methodOf('indexOf', ['string', 'string'], 'number', ([text, part], call) =>
    codePointIndex(text, text.indexOf(part), call),
  ),
  methodOf('lastIndexOf', ['string', 'string'], 'number', ([text, part], call) =>
    codePointIndex(text, text.lastIndexOf(part), call),
  ),
];

const TEXTS: readonly ExpressionFunction[] = [
  methodOf('lowerAscii', ['string'], 'string', ([text], call) => {
    call.spendText(text.length);
    return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  }),
  methodOf('upperAscii', ['string'], 'string', ([text], call) => {
    call.spendText(text.length);
    return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
  }),
  methodOf('trim', ['string'], 'string', ([text], call) => {
    call.spendText(text.length);
    return text.trim();
  }),
  methodOf('substring', ['string', 'number'], 'string', ([text, start], call) => {
    const points = codePoints(text, call);
    return substring(points, [start, points.length], call);
  }),
  methodOf('substring', ['string', 'number', 'number'], 'string', ([text, start, end], call) =>
    substring(codePoints(text, call), [start, end], call),
  ),
  methodOf('split', ['string', 'string'], 'list', ([text, separator], call) => {
    if (separator === '') return codePoints(text, call);
    call.spendText(text.length + separator.length);
    const parts = text.split(separator);
    call.spend(parts.length);
    return parts;
  }),
  methodOf('join', ['list'], 'string', ([list], call) => join(list, '', call)),
  methodOf('join', ['list', 'string'], 'string', ([list, between], call) =>
    join(list, between, call),
  ),
];

function codePoints(text: string, call: CallSite): readonly string[] {
  call.spend(text.length / 4);
  return Array.from(text);
}

function codePointIndex(text: string, index: number, call: CallSite): number {
  call.spendText(text.length);
  return index < 0 ? -1 : codePoints(text.slice(0, index), call).length;
}

function substring(
  points: readonly string[],
  [start, end]: readonly [number, number],
  call: CallSite,
): string {
  const within = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end;
  if (!within || end > points.length) {
    const range = `substring(${start}, ${end})`;
    call.fail('EXPRESSION_MISSING_KEY', `${range} is outside a text of ${points.length}`);
  }
  return points.slice(start, end).join('');
}

function join(list: JsonArray, between: string, call: CallSite): string {
  call.spend(list.length);
  let units = between.length * list.length;
  for (const item of list) {
    if (typeof item !== 'string') call.fail('EXPRESSION_TYPE', 'join() needs a list of strings');
    units += item.length;
  }
  call.spendText(units);
  return list.join(between);
}

const ALL = [...CONVERSIONS, ...SIZES, ...SEARCHES, ...TEXTS, ...MATH_FUNCTIONS];

const TABLE: ReadonlyMap<string, readonly ExpressionFunction[]> = new Map(
  ALL.map(({ name, method }) => [
    tableKey(name, method),
    ALL.filter((other) => other.name === name && other.method === method),
  ]),
);

function tableKey(name: string, method: boolean): string {
  return method ? `.${name}` : name;
}

/** The overloads of a function or method; empty when there is none of that name. */
export function functionsNamed(name: string, method: boolean): readonly ExpressionFunction[] {
  return TABLE.get(tableKey(name, method)) ?? [];
}

/** The overload that takes `types`. */
export function matchFunction(
  overloads: readonly ExpressionFunction[],
  types: readonly StaticType[],
  fits: (wanted: StaticType, found: StaticType) => boolean,
): ExpressionFunction | undefined {
  return overloads.find(
    ({ params }) =>
      params.length === types.length &&
      params.every((wanted, index) => fits(wanted, types[index] ?? 'any')),
  );
}

/** Why a function of CEL is not offered here, if `name` is one. */
export function whyNotOffered(name: string): string | undefined {
  switch (name) {
    case 'matches':
      return 'the cost of a regular expression has no bound';
    case 'timestamp':
    case 'duration':
    case 'now':
      return 'an expression knows no time';
    case 'uint':
    case 'bytes':
    case 'type':
    case 'bind':
      return 'its values are not JSON, or it is not needed';
    default:
      return undefined;
  }
}
