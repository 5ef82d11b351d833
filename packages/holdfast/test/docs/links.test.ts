/** Every relative link of a Markdown page leads somewhere, and to a heading that exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const skipped = new Set(['node_modules', 'dist', '.git', '.ci-out', '.holdfast', '.snippets']);

function pagesBelow(folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : pagesBelow(file);
    return entry.name.endsWith('.md') && !file.includes('/fixtures/') ? [file] : [];
  });
}

/** The text without code, where brackets are no links. */
function prose(markdown: string): string {
  return markdown.replace(/^ {0,3}(`{3,}|~{3,}).*?^ {0,3}\1/gms, '').replace(/`[^`\n]*`/g, '');
}

function headingsOf(markdown: string): ReadonlySet<string> {
  const headings = markdown.matchAll(/^#{1,6} +(.+?)\s*$/gm);
  return new Set([...headings].map(([, text = '']) => anchorOf(text)));
}

/** The anchor that code hosts give a heading. */
function anchorOf(heading: string): string {
  const words = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return words.replaceAll(' ', '-');
}

function brokenLinks(page: string): readonly string[] {
  const text = readFileSync(path.join(root, page), 'utf8');
  const links = prose(text).matchAll(/\]\((?<target>[^)\s]+)\)/g);
  return [...links].flatMap(({ groups }) => {
    const target = groups?.['target'] ?? '';
    if (/^[a-z]+:/.test(target)) return [];
    const [file = '', anchor] = target.split('#');
    const place = file === '' ? path.join(root, page) : path.join(root, path.dirname(page), file);
    if (!existsSync(place)) return [`${page} → ${target}`];
    if (anchor === undefined || !place.endsWith('.md')) return [];
    return headingsOf(readFileSync(place, 'utf8')).has(anchor) ? [] : [`${page} → ${target}`];
  });
}

it('has no broken relative link', () => {
  const pages = pagesBelow('.');
  expect(pages).toContain('README.md');
  expect(pages.flatMap(brokenLinks)).toEqual([]);
});
