/** The import table: rooms import what the table lists, doors are the library's only exports. */

import type { Finding } from '../finding.ts';
import { isPure, packageOpenTo, placeOf, rooms, roomsOpenTo, roomsOpenToDoor } from '../house.ts';
import { type Import, importsOf, packageOf } from '../imports.ts';
import { isTest, type Source } from '../source.ts';

export function checkImportTable(sources: readonly Source[]): readonly Finding[] {
  const doors = new Set(sources.flatMap((source) => doorSpecifiers(source.path)));
  return sources
    .filter((source) => source.syntax !== null && !isTest(source.path))
    .flatMap((source) => [
      ...unknownRoom(source),
      ...importsOf(source).flatMap((entry) => checkImport(source, entry, doors)),
    ]);
}

function doorSpecifiers(path: string): readonly string[] {
  const place = placeOf(path);
  if (place?.kind !== 'door') return [];
  const name = place.name.replace(/\.ts$/, '');
  return [name === 'index' ? 'holdfast' : `holdfast/${name}`];
}

function unknownRoom(source: Source): readonly Finding[] {
  const place = placeOf(source.path);
  if (place?.kind !== 'unknown') return [];
  return [
    problem(source, 1, place.name, [
      `the house has no room "${place.name}"`,
      'move the file into a room of the table in tools/tidy/src/house.ts, or add the room there.',
    ]),
  ];
}

function checkImport(
  source: Source,
  entry: Import,
  doors: ReadonlySet<string>,
): readonly Finding[] {
  const advice =
    entry.target === null
      ? adviceForPackage(source.path, entry.specifier, doors)
      : adviceForFile(source.path, entry.target);
  return advice === null ? [] : [problem(source, entry.line, entry.specifier, advice)];
}

type Advice = readonly [message: string, mend: string];

function adviceForFile(from: string, target: string): Advice | null {
  const place = placeOf(from);
  if (place === null) return adviceOutside(from, target);
  const to = placeOf(target);
  if (to === null) return [`"${target}" lies outside the library`, 'move what you need inside.'];
  if (to.kind === 'door') {
    if (place.kind === 'door') return null;
    return [`a room imports the door "${to.name}"`, 'import the file that the door exports.'];
  }
  const open = place.kind === 'door' ? roomsOpenToDoor(place.name) : roomsOpenTo(place.name);
  if (open.has(to.name) && !(to.name === 'testing' && place.kind === 'room')) return null;
  if (to.name === place.name) return null;
  return [
    `${place.kind} "${place.name}" may not import room "${to.name}"`,
    `move the shared part into a room that both may import, or pass it in. ${place.name} may ` +
      `import: ${list(open)}.`,
  ];
}

function adviceOutside(from: string, target: string): Advice | null {
  const home = workspaceOf(from);
  if (home === null || target.startsWith(home)) return null;
  return [`"${target}" lies outside the workspace ${home}`, 'import a door, such as "holdfast".'];
}

function adviceForPackage(
  from: string,
  specifier: string,
  doors: ReadonlySet<string>,
): Advice | null {
  const place = placeOf(from);
  if (packageOf(specifier) === 'holdfast') {
    if (place !== null) {
      return ['the library imports itself by name', 'import the file by its relative path.'];
    }
    if (doors.has(specifier) || specifier === 'holdfast/package.json') return null;
    return [`"${specifier}" is not a door`, `import one of: ${list(doors)}.`];
  }
  if (place === null) return null;
  return specifier.startsWith('node:')
    ? adviceForNode(from, place.name, place.kind)
    : adviceForVendor(place.name, place.kind, packageOf(specifier));
}

function adviceForNode(from: string, name: string, kind: string): Advice | null {
  if (isPure(from)) {
    return [`pure ${kind} "${name}" imports a node: module`, 'take what you need as a port.'];
  }
  if (kind === 'door' || rooms[name]?.node === true) return null;
  return [
    `room "${name}" imports a node: module`,
    'take what you need as a port (base/ports.ts, store/) and implement it in an adapter.',
  ];
}

function adviceForVendor(name: string, kind: string, vendor: string): Advice | null {
  if (kind === 'room' && packageOpenTo(name, vendor)) return null;
  return [
    `${kind} "${name}" may not import the package "${vendor}"`,
    'hide it behind a port, or list it for this room in tools/tidy/src/house.ts and write a page ' +
      'in docs/decisions.',
  ];
}

/** `apps/cli/`, `tools/tidy/`, `examples/` …; null for files of the root. */
function workspaceOf(path: string): string | null {
  const match = /^(?:(?:apps|tools|packages)\/[^/]+\/|(?:examples|bench|docs)\/)/.exec(path);
  return match === null ? null : match[0];
}

function list(names: ReadonlySet<string>): string {
  return [...names].sort().join(', ') || 'nothing';
}

function problem(source: Source, line: number, subject: string, advice: Advice): Finding {
  const [message, mend] = advice;
  return { rule: 'import-table', path: source.path, line, subject, message, mend };
}
