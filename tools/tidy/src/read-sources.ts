/** Reads the files that are kept: code, pages, configuration and scripts, built output left out. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { makeSource, type Source } from './source.ts';

const skippedFolders = new Set([
  'node_modules',
  'dist',
  'coverage',
  '.git',
  '.ci-out',
  '.holdfast',
  '.snippets',
]);

const keptEndings = /\.(?:[cm]?[jt]sx?|json|md|sh|ya?ml|html|css|sql)$/;

export function readSources(root: string): readonly Source[] {
  return pathsBelow(root, '')
    .filter((file) => keptEndings.test(file) || file.startsWith('.ci/'))
    .map((file) => makeSource(file, readFileSync(path.join(root, file), 'utf8')));
}

function pathsBelow(root: string, folder: string): readonly string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return entry.isFile() ? [file] : [];
    return skippedFolders.has(entry.name) ? [] : pathsBelow(root, file);
  });
}
