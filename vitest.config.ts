import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const library = fileURLToPath(new URL('./packages/holdfast/', import.meta.url));

/** Opens every door at its source, so that tests run without a build; nothing else is a door. */
function doors(): readonly { find: RegExp; replacement: string }[] {
  const { exports } = JSON.parse(readFileSync(`${library}package.json`, 'utf8')) as {
    exports: Record<string, unknown>;
  };
  const names = Object.keys(exports).filter((name) => !name.endsWith('.json'));
  return names.map((name) => ({
    find: new RegExp(`^holdfast${name.slice(1)}$`),
    replacement: `${library}src/${name === '.' ? 'index' : name.slice(2)}.ts`,
  }));
}

/** What depends on git, or compiles pages, shows the same on every Node version. */
const ONE_NODE = [
  'packages/holdfast/test/workspace/*.test.ts',
  'packages/holdfast/test/docs/*.test.ts',
  'packages/holdfast/test/engine/conformance.test.ts',
];
const isNodeMatrix = process.env['HOLDFAST_NODE_MATRIX'] !== undefined;

export default defineConfig({
  resolve: { alias: [...doors()] },
  test: {
    include: ['{packages,apps,tools}/*/test/**/*.test.ts', '{examples,bench}/test/**/*.test.ts'],
    exclude: [
      '**/node_modules/**',
      '**/dist/**',
      '**/.snippets/**',
      ...(isNodeMatrix ? ONE_NODE : []),
    ],
    // One worker less than there are cores is the default: on two cores, half of the machine.
    maxWorkers: availableParallelism(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
