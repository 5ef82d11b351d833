import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const src = fileURLToPath(new URL('./packages/holdfast/src/', import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^holdfast$/, replacement: `${src}index.ts` },
      { find: /^holdfast\/(.*)$/, replacement: `${src}$1.ts` },
    ],
  },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts', 'tools/*/test/**/*.test.ts'],
    testTimeout: 60_000,
  },
});
