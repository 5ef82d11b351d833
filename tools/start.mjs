/** `npm start`: install if needed, build, then the main job: a release report of a repository. */
import path from 'node:path';
import { prepare, root, runCommand } from './workspace.mjs';

await prepare('apps/cli');
const main = path.join(root, 'apps', 'cli', 'dist', 'main.js');
const code = await runCommand(process.execPath, [main, 'report', ...process.argv.slice(2)], {
  cwd: process.env.INIT_CWD ?? process.cwd(),
});
process.exitCode = code;
