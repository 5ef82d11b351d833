/**
 * The map of the house as data: which room may import which, the same table as in CONTRIBUTING.
 *
 * Change it only together with that page. A room that is not listed here does not exist.
 */

export interface Room {
  /** No clock, chance, I/O or `node:` import; runs in a browser. */
  readonly pure?: true;
  /** May import `node:` modules, because that is its work. */
  readonly node?: true;
  /** Rooms it may import besides itself. */
  readonly imports: readonly string[];
  /** Rooms whose own permissions it has too ("and what they import"). */
  readonly alsoImportsOf?: readonly string[];
  /** npm packages it may import; a trailing `*` stands for the rest of a name. */
  readonly packages?: readonly string[];
}

const libraryFolder = 'packages/holdfast/src/';

const adapters = ['adapters/memory', 'adapters/sqlite', 'adapters/postgres'];

const hostRoom: Room = {
  node: true,
  imports: ['executor', 'graph-runner', 'views', 'process', 'store', 'workspace', ...adapters],
  alsoImportsOf: [
    'executor',
    'graph-runner',
    'views',
    'process',
    'store',
    'workspace',
    'adapters/memory',
    'adapters/sqlite',
    'adapters/postgres',
  ],
};

const adapterRooms = ['base', 'history', 'store', 'process'];

const attemptRooms = [
  'base',
  'graph',
  'history',
  'run',
  'store',
  'engine',
  'memory',
  'workspace',
] as const;

export const rooms: Readonly<Record<string, Room>> = {
  base: { pure: true, imports: [], packages: ['canonicalize', '@noble/hashes'] },
  graph: { pure: true, imports: ['base'] },
  history: { pure: true, imports: ['base'] },
  expression: { pure: true, imports: ['base'], packages: ['@marcbachmann/cel-js'] },
  flow: { pure: true, imports: ['base', 'graph', 'expression'] },
  forms: { pure: true, imports: ['base', 'graph', 'history', 'expression', 'flow'] },
  run: { pure: true, imports: ['base', 'graph', 'history'] },
  views: { pure: true, imports: ['base', 'graph', 'history', 'flow', 'run'] },
  store: { imports: ['base', 'history'] },
  engine: { node: true, imports: ['base'] },
  memory: { node: true, imports: ['base'] },
  process: { node: true, imports: ['base'] },
  workspace: { node: true, imports: ['base', 'history', 'process'], packages: ['picomatch'] },
  'adapters/memory': { imports: adapterRooms },
  'adapters/sqlite': { node: true, imports: adapterRooms, packages: ['better-sqlite3'] },
  'adapters/postgres': { node: true, imports: adapterRooms, packages: ['pg'] },
  attempt: { imports: attemptRooms },
  nodes: {
    imports: [
      'base',
      'graph',
      'expression',
      'flow',
      'forms',
      'engine',
      'memory',
      'workspace',
      'attempt',
    ],
  },
  // `views` because an executor answers with a view of its run.
  executor: { imports: ['nodes', 'forms', 'run', 'views', 'attempt', ...attemptRooms] },
  'graph-runner': {
    imports: ['executor', 'nodes', 'forms', 'views', 'adapters/memory'],
    alsoImportsOf: ['executor', 'nodes', 'forms', 'views', 'adapters/memory'],
  },
  agents: {
    node: true,
    imports: [
      'base',
      'expression',
      'engine',
      'memory',
      'process',
      'attempt',
      'nodes',
      'forms',
      'graph-runner',
    ],
    packages: ['ai', '@ai-sdk/*', '@modelcontextprotocol/sdk', 'zod'],
  },
  supervisor: hostRoom,
  fleet: hostRoom,
  hosts: hostRoom,
  telemetry: { imports: ['base', 'history', 'views'], packages: ['@opentelemetry/api'] },
  testing: { node: true, imports: ['*'], packages: ['fast-check'] },
};

/** Doors that a browser may load: they open pure rooms only. */
const pureDoors: readonly string[] = ['graph.ts', 'flow.ts', 'views.ts'];

/** The only door that opens the room `testing`. */
const testingDoor = 'testing.ts';

export type Place =
  | { readonly kind: 'room'; readonly name: string }
  | { readonly kind: 'door'; readonly name: string }
  | { readonly kind: 'unknown'; readonly name: string };

/** Where a file of the library stands, or null for a file outside the library's sources. */
export function placeOf(path: string): Place | null {
  if (!path.startsWith(libraryFolder)) return null;
  const inside = path.slice(libraryFolder.length);
  const parts = inside.split('/');
  const [first = '', second = ''] = parts;
  if (parts.length === 1 || first === 'storage') return { kind: 'door', name: inside };
  const name = first === 'adapters' ? `${first}/${second}` : first;
  return Object.hasOwn(rooms, name) ? { kind: 'room', name } : { kind: 'unknown', name };
}

/** True for a file of a room or door that must run in a browser. */
export function isPure(path: string): boolean {
  const place = placeOf(path);
  if (place === null) return false;
  if (place.kind === 'door') return pureDoors.includes(place.name);
  return rooms[place.name]?.pure === true;
}

/** The rooms that `name` may import, its own included. */
export function roomsOpenTo(name: string): ReadonlySet<string> {
  const room = rooms[name];
  const open = new Set([name, ...(room?.imports ?? [])]);
  for (const other of room?.alsoImportsOf ?? []) {
    for (const opened of roomsOpenTo(other)) open.add(opened);
  }
  if (open.has('*')) for (const every of Object.keys(rooms)) open.add(every);
  return open;
}

/** The rooms that a door may open. */
export function roomsOpenToDoor(door: string): ReadonlySet<string> {
  const names = Object.keys(rooms).filter((name) => {
    if (name === 'testing') return door === testingDoor;
    return !pureDoors.includes(door) || rooms[name]?.pure === true;
  });
  return new Set(names);
}

/** True when a file of `room` may import the npm package `name`. */
export function packageOpenTo(room: string, name: string): boolean {
  return (rooms[room]?.packages ?? []).some((allowed) =>
    allowed.endsWith('*') ? name.startsWith(allowed.slice(0, -1)) : name === allowed,
  );
}
