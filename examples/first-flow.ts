import { setTimeout as sleep } from 'node:timers/promises';
import { defineFlow, runFlow, task } from 'holdfast';

async function count(word: string): Promise<string> {
  console.log(word);
  await sleep(1_000);
  return word;
}

const flow = defineFlow({
  id: 'first-flow',
  nodes: {
    one: task(() => count('one'), { retrySafe: true }),
    two: task(() => count('two'), { retrySafe: true }),
    three: task(() => count('three'), { retrySafe: true }),
  },
});

console.log(await runFlow(flow, {}));
