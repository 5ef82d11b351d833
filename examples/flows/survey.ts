/** The functions of survey.json, and of the subflow greet.json that it names. */
export { hello, send } from './greet.ts';

export function measure(word: string): { readonly word: string; readonly length: number } {
  return { word, length: Array.from(word).length };
}

export function look({ round }: { readonly round: number }): { readonly summary: string } {
  return { summary: `round ${round}` };
}
