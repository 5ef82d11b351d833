/** The prompter of a real terminal. It is loaded with the first question: most runs ask none. */
import type { Choice, Prompter } from './prompter.ts';

export const clackPrompter: Prompter = Object.freeze({
  async choose<Value extends string>(
    question: string,
    choices: readonly Choice<Value>[],
    signal: AbortSignal,
  ): Promise<Value | null> {
    const { isCancel, select } = await import('@clack/prompts');
    if (signal.aborted) return null;
    const options = choices.map(({ value, label, hint }) => ({
      value: value as string,
      label,
      ...(hint === undefined ? {} : { hint }),
    }));
    const answer = await select<string>({ message: question, options, signal });
    return isCancel(answer) ? null : (answer as Value);
  },

  async write(
    question: string,
    fault: (answer: string) => string | null,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { isCancel, text } = await import('@clack/prompts');
    if (signal.aborted) return null;
    const validate = (answer: string | undefined) => fault(answer ?? '') ?? undefined;
    const answer = await text({ message: question, validate, signal });
    return isCancel(answer) ? null : answer;
  },
});
