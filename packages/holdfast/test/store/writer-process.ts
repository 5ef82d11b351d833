/**
 * A process that writes to a local store; run by `processes.test.ts`.
 *
 * `race DIRECTORY WRITER COUNT`: waits for a line, then tries to win the places 0 … COUNT - 1.
 * `chain DIRECTORY WRITER`: appends for ever, and says each sequence that was acknowledged.
 * `artifacts DIRECTORY WRITER COUNT`: waits for a line, then writes so many artifacts of 100 bytes
 * into the 1 500 that the run may hold.
 * `idle DIRECTORY WRITER`: appends once, subscribes, and leaves everything open.
 */
import { writeSync } from 'node:fs';
import { createLocalRunStorage } from '../../src/storage/local.ts';
import { defaultStoragePolicy } from '../../src/store/policy.ts';
import { event, stream } from './events.ts';

const [, , mode, directory = '', writer = '', count = '0'] = process.argv;
const storage = createLocalRunStorage({ directory, namespace: 'tests' });

function say(text: string): void {
  writeSync(1, `${text}\n`);
}

async function race(): Promise<void> {
  await storage.eventStore.end(stream);
  say('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  for (let place = 0; place < Number(count); place += 1) {
    try {
      const pair = [event({ writer, place }), event({ writer, place, second: true })];
      await storage.eventStore.append(stream, place * 2, pair);
      say(`won ${place}`);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : error;
      if (code !== 'SEQUENCE_CONFLICT') say(`failed ${String(code)}`);
    }
  }
  await storage.close();
  process.stdin.destroy();
}

async function artifacts(): Promise<void> {
  const policy = {
    ...defaultStoragePolicy,
    maxArtifactBytes: 100,
    maxTotalArtifactBytesPerRun: 1_500,
  };
  const { artifactStore, close } = createLocalRunStorage({ directory, namespace: 'tests', policy });
  await artifactStore.deleteRun({ namespace: 'tests', runId: writer });
  say('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  for (let place = 0; place < Number(count); place += 1) {
    try {
      const bytes = Buffer.from(`${writer} ${place}`.padEnd(100));
      const artifact = { bytes, mediaType: 'text/plain', purpose: writer };
      const { digest } = await artifactStore.write(
        { namespace: 'tests', runId: 'run-1' },
        artifact,
      );
      say(`wrote ${digest}`);
    } catch (error) {
      say(error instanceof Error && 'code' in error ? String(error.code) : String(error));
    }
  }
  await close();
  process.stdin.destroy();
}

async function chain(): Promise<void> {
  for (let end = await storage.eventStore.end(stream); ; end += 3) {
    const batch = ['a', 'b', 'c'].map((letter) => event({ writer, letter, end }));
    const { sequence } = await storage.eventStore.append(stream, end, batch);
    say(String(sequence));
  }
}

async function idle(): Promise<void> {
  await storage.eventStore.append(stream, 0, [event(writer)]);
  storage.eventStore.subscribe(stream, 0, (events) => say(`heard ${events[0]?.payload}`));
}

const modes: Readonly<Record<string, () => Promise<void>>> = { race, artifacts, chain, idle };
await modes[mode ?? '']?.();
