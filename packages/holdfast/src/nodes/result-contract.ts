/** What a node's result must be: a named schema for the engine, and a check for what it answers. */
import { cloneFrozenJson, type JsonValue } from '../base/json.ts';
import { refuseOption, requireObject } from '../base/option.ts';

export interface ResultContract {
  /** Which contract it is: for people and records. */
  readonly record?: {
    readonly name: string;
    readonly version: string;
    readonly schemaDigest: string;
  };
  /** The JSON schema that the engine is asked to answer by. */
  readonly schema: JsonValue;
  /** Returns the result, or throws why the value is none. */
  readonly validate: (value: JsonValue) => unknown;
}

/** The contract, checked. Throws `INVALID_OPTION`. */
export function contractOf(contract: ResultContract): Pick<ResultContract, 'schema' | 'validate'> {
  requireObject('resultContract', contract);
  const { schema, validate } = contract;
  if (typeof validate !== 'function') {
    refuseOption('resultContract.validate', 'a function', validate);
  }
  return { schema: schemaOf(schema), validate: (value) => validate(value) };
}

function schemaOf(schema: JsonValue): JsonValue {
  try {
    return cloneFrozenJson(schema);
  } catch (error) {
    return refuseOption('resultContract.schema', 'JSON', error);
  }
}
