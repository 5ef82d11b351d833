/** The functions of the `math` namespace: `math.floor(x)`, `math.greatest(a, b)` and so on. */
import type { JsonArray } from '../base/json.ts';
import type { CallSite } from './call-site.ts';
import { type ExpressionFunction, functionOf } from './function-definition.ts';

/** Half away from zero, as CEL has it (`Math.round` rounds half up). */
function round(number: number): number {
  return Math.sign(number) * Math.round(Math.abs(number));
}

function unary(name: string, run: (number: number) => number): ExpressionFunction {
  return functionOf(`math.${name}`, ['number'], 'number', ([number]) => run(number));
}

function extreme(name: string, pick: (a: number, b: number) => number): ExpressionFunction[] {
  const full = `math.${name}`;
  return [
    functionOf(full, ['number', 'number'], 'number', ([a, b]) => pick(a, b)),
    functionOf(full, ['number', 'number', 'number'], 'number', ([a, b, c]) => pick(pick(a, b), c)),
    functionOf(full, ['list'], 'number', ([list], call) => extremeOf(list, pick, call)),
  ];
}

function extremeOf(
  list: JsonArray,
  pick: (a: number, b: number) => number,
  call: CallSite,
): number {
  call.spend(list.length);
  const numbers = list.filter((item) => typeof item === 'number');
  const [first, ...rest] = numbers;
  if (first === undefined || numbers.length !== list.length) {
    return call.fail('EXPRESSION_TYPE', 'It needs a list of numbers with at least one');
  }
  return rest.reduce((found, number) => pick(found, number), first);
}

export const MATH_FUNCTIONS: readonly ExpressionFunction[] = [
  unary('abs', Math.abs),
  unary('ceil', Math.ceil),
  unary('floor', Math.floor),
  unary('round', round),
  unary('trunc', Math.trunc),
  unary('sign', Math.sign),
  ...extreme('greatest', Math.max),
  ...extreme('least', Math.min),
];
