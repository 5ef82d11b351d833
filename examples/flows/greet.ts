/** The functions of greet.json: each exported function is a node function by its name. */
import type { TaskInput } from 'holdfast';

export function hello({ input }: TaskInput<{ readonly name?: string }>): string {
  return `Hello, ${input.name ?? 'whoever you are'}!`;
}

/** It is not retry-safe: after a crash in it, the run asks whether the text was sent. */
export function send({ text }: { readonly text: string }): { readonly sent: string } {
  return { sent: text };
}
