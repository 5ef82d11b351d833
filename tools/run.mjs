/** `node tools/run.mjs PROJECT SCRIPT …`: install if needed, build the project, run its script. */
import { runBuilt, stop } from './workspace.mjs';

const [project, script, ...args] = process.argv.slice(2);
if (script === undefined) stop('What shall run?', 'Usage: node tools/run.mjs PROJECT SCRIPT …');
else await runBuilt(project, script, args);
