/** Answers the pauses of a run by asking the person at the terminal. */
import { askedKinds, askPause } from './ask-pause.ts';
import type { PauseAnswerer } from './drive-session.ts';
import type { Prompter } from './prompter.ts';

export function personAnswerer(ports: { readonly prompter: Prompter }, by: string): PauseAnswerer {
  return {
    asksPerson: true,
    async answer(pause, executor, signal) {
      if (!askedKinds.includes(pause.request.kind)) return false;
      return askPause({ pause, executor, prompter: ports.prompter, by, signal });
    },
  };
}
