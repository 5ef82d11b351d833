/** Asking a person, as a port. Every question resolves with null when it was left unanswered. */

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
}

export interface Prompter {
  /** `signal` takes the question back: it was answered elsewhere, or its deadline passed. */
  choose<Value extends string>(
    question: string,
    choices: readonly Choice<Value>[],
    signal: AbortSignal,
  ): Promise<Value | null>;
  /** `fault` says what is wrong with an answer, or null. */
  write(
    question: string,
    fault: (answer: string) => string | null,
    signal: AbortSignal,
  ): Promise<string | null>;
}
