/** `npm run tidy`: prints every finding of the workspace and fails if there is one. */
import { fileURLToPath } from 'node:url';
import { findingText } from './finding.ts';
import { readSources } from './read-sources.ts';
import { tidy } from './tidy.ts';

const root = process.argv[2] ?? fileURLToPath(new URL('../../..', import.meta.url));
const sources = readSources(root);
const findings = tidy(sources);
for (const finding of findings) console.log(findingText(finding));
console.log(`tidy: ${sources.length} files, ${findings.length} findings`);
process.exitCode = findings.length === 0 && sources.length > 0 ? 0 : 1;
