import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const doors = fileURLToPath(new URL('./packages/holdfast/src/', import.meta.url));

export default defineConfig({
  resolve: {
    // Tests open the library's doors at their sources, so that they run without a build.
    alias: [
      { find: /^holdfast$/, replacement: `${doors}index.ts` },
      { find: /^holdfast\/(?!package\.json$)(.*)$/, replacement: `${doors}$1.ts` },
    ],
  },
  test: {
    include: ['{packages,apps,tools}/*/test/**/*.test.ts', '{examples,bench}/test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/.snippets/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
