import { readFileSync } from 'node:fs';
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

/** What git shows depends on git: one Node version is enough for all that asks it much. */
const ONE_NODE = ['packages/holdfast/test/workspace/{random,hidden}-changes.test.ts'];
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
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
