/** No file may reach itself through its imports, type-only imports included. */
import type { Finding } from '../finding.ts';
import { type Import, importsOf } from '../imports.ts';
import type { Source } from '../source.ts';

/** Reports each cycle once, at the import that closes it. */
export function checkImportCycles(sources: readonly Source[]): readonly Finding[] {
  const imports = new Map(sources.map((source) => [source.path, importsOf(source)]));
  const findings: Finding[] = [];
  const done = new Set<string>();
  for (const source of sources) search(source.path, { imports, findings, done, trail: [] });
  return findings;
}

interface Search {
  readonly imports: ReadonlyMap<string, readonly Import[]>;
  readonly findings: Finding[];
  readonly done: Set<string>;
  readonly trail: string[];
}

/** Depth first: an import of a file that is still on the trail closes a cycle. */
function search(path: string, state: Search): void {
  if (state.done.has(path)) return;
  state.trail.push(path);
  for (const entry of state.imports.get(path) ?? []) {
    if (entry.target === null || !state.imports.has(entry.target)) continue;
    const start = state.trail.indexOf(entry.target);
    if (start < 0) search(entry.target, state);
    else state.findings.push(cycle(path, entry, state.trail.slice(start)));
  }
  state.trail.pop();
  state.done.add(path);
}

function cycle(path: string, entry: Import, trail: readonly string[]): Finding {
  return {
    rule: 'import-cycle',
    path,
    line: entry.line,
    subject: entry.specifier,
    message: `imports go round: ${[...trail, trail[0]].join(' → ')}`,
    mend: 'move what both need into a file of its own that imports neither.',
  };
}
