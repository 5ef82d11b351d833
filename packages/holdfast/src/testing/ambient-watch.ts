/**
 * Notices reads of the clock and of chance by code that promises to be pure.
 *
 * Invariant: the global functions are put back before `watchAmbientReads` returns. What a module
 * took hold of before (`const now = Date.now`) is not seen.
 */

interface Watched {
  readonly target: object;
  readonly name: string;
  readonly label: string;
}

const FUNCTIONS: readonly Watched[] = [
  { target: Math, name: 'random', label: 'Math.random' },
  { target: globalThis.performance, name: 'now', label: 'performance.now' },
  { target: globalThis.crypto, name: 'randomUUID', label: 'crypto.randomUUID' },
  { target: globalThis.crypto, name: 'getRandomValues', label: 'crypto.getRandomValues' },
];

/** Runs a synchronous function; the names of what it read, in order, each once. */
export function watchAmbientReads(run: () => void): readonly string[] {
  const reads = new Set<string>();
  const restores = FUNCTIONS.filter(({ target }) => target !== undefined).map((watched) =>
    replace(watched.target, watched.name, noting(watched, reads)),
  );
  restores.push(replace(globalThis, 'Date', watchedDate(reads)));
  try {
    run();
  } finally {
    for (const restore of restores) restore();
  }
  return [...reads];
}

function noting({ target, name, label }: Watched, reads: Set<string>): unknown {
  const original: unknown = Reflect.get(target, name);
  if (typeof original !== 'function') return original;
  return (...parameters: readonly unknown[]): unknown => {
    reads.add(label);
    return Reflect.apply(original, target, parameters);
  };
}

/** `Date` with only the forms that read the clock noted: a given moment is pure. */
function watchedDate(reads: Set<string>): DateConstructor {
  return new Proxy(Date, {
    apply(target, self, parameters) {
      reads.add('Date()');
      return Reflect.apply(target, self, parameters);
    },
    construct(target, parameters, newTarget) {
      if (parameters.length === 0) reads.add('new Date()');
      return Reflect.construct(target, parameters, newTarget) as object;
    },
    get(target, name, receiver) {
      if (name === 'now') reads.add('Date.now');
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
}

/** Replaces a property and returns what puts it back. */
function replace(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  };
}
