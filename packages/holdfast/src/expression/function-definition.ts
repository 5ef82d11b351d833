/** How one overload of a function or method is written down. */
import type { JsonValue } from '../base/json.ts';
import type { CallSite } from './call-site.ts';
import type { StaticType, ValueOf } from './value-type.ts';

export interface ExpressionFunction {
  readonly name: string;
  /** True for `target.name(…)`: the target is then the first parameter. */
  readonly method: boolean;
  readonly params: readonly StaticType[];
  readonly result: StaticType;
  /** Called with arguments of the types in `params`, and no others. */
  readonly run: (args: readonly JsonValue[], call: CallSite) => JsonValue;
}

type Values<P extends readonly StaticType[]> = { readonly [K in keyof P]: ValueOf<P[K]> };
type Run<P extends readonly StaticType[]> = (args: Values<P>, call: CallSite) => JsonValue;

/** A function `name(params)`. */
export function functionOf<const P extends readonly StaticType[]>(
  ...[name, params, result, run]: [string, P, StaticType, Run<P>]
): ExpressionFunction {
  // The evaluation has matched the arguments against `params` before it calls `run`.
  return { name, method: false, params, result, run: run as ExpressionFunction['run'] };
}

/** A method `first.name(rest)`. */
export function methodOf<const P extends readonly StaticType[]>(
  ...[name, params, result, run]: [string, P, StaticType, Run<P>]
): ExpressionFunction {
  return { ...functionOf(name, params, result, run), method: true };
}
