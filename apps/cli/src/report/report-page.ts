/** The written report: one Markdown page, made of facts only. */
import type { Commit, Facts } from './facts.ts';
import { sizeText } from './file-tree.ts';
import type { Advice } from './findings.ts';
import type { Repository } from './repository.ts';

export interface ReportParts {
  readonly of: Repository;
  readonly facts: Facts;
  readonly advice: Advice | null;
  readonly checks: number;
}

/** The same parts give the same page: it holds no time of writing. */
export function reportPage({ of, facts, advice, checks }: ReportParts): string {
  const { survey, commits, areas, markers, links, sizes } = facts;
  const since =
    survey.base === null ? 'No tag yet: everything counts.' : `Since \`${survey.base}\`.`;
  return [
    `# Release report of ${escaped(of.name)}`,
    '',
    `Commit \`${of.head ?? 'none'}\`. ${since} The release check passed at attempt ${checks}.`,
    ...section(
      'To attend to',
      (advice?.lines ?? ['Nothing.']).map((line) => `- ${escaped(line)}`),
    ),
    ...section(`Commits: ${commits.summary}`, commits.newest.map(commitLine)),
    ...more(commits.total - commits.newest.length),
    ...section(`Changed files: ${areas.summary}`, areaTable(facts)),
    ...section(
      `Work left: ${markers.summary}`,
      markers.first.map(
        ({ path, line, kind, text }) => `- \`${code(path)}:${line}\` ${kind}: ${escaped(text)}`,
      ),
    ),
    ...more(markers.todo + markers.fixme - markers.first.length),
    ...section(
      `Relative links: ${links.summary}`,
      links.first.map(
        ({ path, line, target }) => `- \`${code(path)}:${line}\` → \`${code(target)}\``,
      ),
    ),
    ...more(links.broken - links.first.length),
    ...section(
      `Largest files: ${sizes.summary}`,
      sizes.largest.map(({ path, bytes }) => `- \`${code(path)}\`, ${sizeText(bytes)}`),
    ),
    '',
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return ['', `## ${escaped(title)}`, '', ...(lines.length === 0 ? ['None.'] : lines)];
}

function more(count: number): readonly string[] {
  return count > 0 ? [`- … and ${count.toLocaleString('en')} more`] : [];
}

function commitLine({ hash, author, date, subject }: Commit): string {
  return `- \`${hash}\` ${escaped(subject)} (${escaped(author)}, ${date.slice(0, 10)})`;
}

function areaTable({ areas }: Facts): readonly string[] {
  if (areas.areas.length === 0) return [];
  const rows = areas.areas.map(({ area, files, added, deleted }) => {
    const lines = added === null ? '' : `+${added} −${deleted ?? 0}`;
    return `| \`${code(area)}\` | ${files} | ${lines} |`;
  });
  return ['| area | files | lines |', '|---|---:|---:|', ...rows];
}

/** Text of a repository cannot become markup. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>#|]/g, (character) => `\\${character}`);
}

/** Text inside a code span. */
function code(text: string): string {
  return text.replaceAll('`', "'").replaceAll('|', '\\|');
}
