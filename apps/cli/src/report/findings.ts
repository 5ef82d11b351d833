/** What the facts say together: is there anything to attend to, and what first? */
import type { Facts } from './facts.ts';
import { counted } from './facts.ts';
import { sizeText } from './file-tree.ts';

export type Finding = {
  /** Lower comes first. */
  readonly rank: number;
  readonly text: string;
};

export type Findings = {
  readonly facts: Facts;
  /** How many kinds of things somebody should look at. */
  readonly attention: number;
  readonly findings: readonly Finding[];
  readonly summary: string;
};

const LARGE_FILE_BYTES = 1_000_000;

/** The join: all facts, and what stands out in them. */
export function collectFindings(facts: Facts): Findings {
  const findings = [
    ...linkFindings(facts),
    ...markerFindings(facts),
    ...sizeFindings(facts),
    ...historyFindings(facts),
  ];
  const { commits, areas } = facts;
  const summary = `${commits.summary}, ${areas.summary}, ${counted(findings.length, 'finding')}`;
  return { facts, attention: findings.length, findings, summary };
}

function historyFindings({ survey, commits }: Facts): readonly Finding[] {
  if (commits.total === 0) return [{ rank: 4, text: 'There is nothing new to release.' }];
  if (survey.base !== null) return [];
  return [{ rank: 4, text: 'There is no tag yet, so nothing says what was released before.' }];
}

function linkFindings({ links }: Facts): readonly Finding[] {
  if (links.broken === 0) return [];
  return [
    {
      rank: 1,
      text: `${counted(links.broken, 'relative link leads', 'relative links lead')} nowhere.`,
    },
  ];
}

function markerFindings({ markers }: Facts): readonly Finding[] {
  if (markers.fixme > 0) {
    return [{ rank: 2, text: `${counted(markers.fixme, 'line')} marked FIXME.` }];
  }
  return [];
}

function sizeFindings({ sizes }: Facts): readonly Finding[] {
  const large = sizes.largest.filter(({ bytes }) => bytes >= LARGE_FILE_BYTES);
  const [first] = large;
  if (first === undefined) return [];
  const most = `${first.path} has ${sizeText(first.bytes)}`;
  return [{ rank: 3, text: `${counted(large.length, 'file')} of a megabyte or more; ${most}.` }];
}

export type Advice = { readonly lines: readonly string[]; readonly summary: string };

/** The findings in the order in which to look at them. */
export function rankFindings(findings: readonly Finding[]): Advice {
  const lines = [...findings].sort((a, b) => a.rank - b.rank).map(({ text }) => text);
  return { lines, summary: lines[0] ?? '' };
}
