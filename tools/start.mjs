/** `npm start`: install if needed, build, then the main job: a release report of a repository. */
import { runBuilt } from './workspace.mjs';

await runBuilt('apps/cli', 'apps/cli/dist/main.js', ['report', ...process.argv.slice(2)]);
