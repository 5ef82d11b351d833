/**
 * Where a text stops being JSON. `JSON.parse` says so in some messages, in some versions; this
 * scanner always does. It finds keys that stand twice too, which `JSON.parse` takes.
 */

export interface JsonFault {
  /** From 1. */
  readonly line: number;
  /** In UTF-16 code units, from 1. */
  readonly column: number;
  readonly message: string;
}

/** The first fault of a text that `JSON.parse` refuses. */
export function jsonFault(text: string): JsonFault {
  const scanner = new Scanner(text);
  return faultAt(text, scanner, scanner.scan() ?? 'this is not JSON');
}

/** The first key of a JSON text that its object has already: a reader would drop one of the two. */
export function repeatedKey(text: string): JsonFault | null {
  const scanner = new Scanner(text);
  const message = scanner.scan();
  return message === null ? null : faultAt(text, scanner, message);
}

function faultAt(text: string, scanner: Scanner, message: string): JsonFault {
  const before = text.slice(0, scanner.at);
  const line = before.split('\n').length;
  return { line, column: before.length - before.lastIndexOf('\n'), message };
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON texts refuse them
const STRING = /"(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON texts refuse them
const STRING_START = /"(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const WORD = /true|false|null/y;

/** Each method reads one part and returns what is wrong with it, or null. */
class Scanner {
  at = 0;
  readonly #text: string;
  /** The brackets that are open, as what closes them. */
  readonly #closers: string[] = [];
  /** The keys of each of them so far. */
  readonly #keys: Set<unknown>[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  scan(): string | null {
    for (;;) {
      const fault = this.#beginning();
      if (fault !== null) return fault;
      const ended = this.#ending();
      if (ended !== undefined) return ended;
    }
  }

  /** Reads up to the end of the next scalar or empty container. */
  #beginning(): string | null {
    for (;;) {
      const open = this.#peek();
      if (open !== '{' && open !== '[') return this.#scalar();
      this.at += 1;
      const closer = open === '{' ? '}' : ']';
      if (this.#peek() === closer) {
        this.at += 1;
        return null;
      }
      this.#closers.push(closer);
      this.#keys.push(new Set());
      const fault = open === '{' ? this.#key() : null;
      if (fault !== null) return fault;
    }
  }

  /** Reads what follows a value: undefined when another value must follow. */
  #ending(): string | null | undefined {
    for (;;) {
      const next = this.#peek();
      const closer = this.#closers.at(-1);
      if (closer === undefined) return next === '' ? null : 'the text goes on after its end';
      if (next === closer) {
        this.at += 1;
        this.#closers.pop();
        this.#keys.pop();
        continue;
      }
      if (next !== ',') return `expected "," or "${closer}"${this.#found()}`;
      this.at += 1;
      const fault = closer === '}' ? this.#key() : null;
      return fault ?? undefined;
    }
  }

  #key(): string | null {
    if (this.#peek() !== '"') return `expected a key in double quotes${this.#found()}`;
    const start = this.at;
    const fault = this.#string();
    if (fault !== null) return fault;
    const shown = this.#text.slice(start, this.at);
    const keys = this.#keys.at(-1);
    const key: unknown = JSON.parse(shown);
    if (keys?.has(key) === true) {
      this.at = start;
      return `the key ${shown.slice(0, 100)} stands in this object already`;
    }
    keys?.add(key);
    if (this.#peek() !== ':') return `expected ":" after a key${this.#found()}`;
    this.at += 1;
    return null;
  }

  #scalar(): string | null {
    if (this.#peek() === '"') return this.#string();
    if (this.#take(NUMBER) || this.#take(WORD)) return null;
    return `expected a value${this.#found()}`;
  }

  #string(): string | null {
    if (this.#take(STRING)) return null;
    this.#take(STRING_START);
    const next = this.#text[this.at] ?? '';
    if (next === '\\') return 'this escape does not exist';
    return next === '' || next === '\n' || next === '\r'
      ? 'this text has no closing quote'
      : 'a control character in a text must be escaped';
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.#text);
    if (match === null) return false;
    this.at += match[0].length;
    return true;
  }

  #peek(): string {
    while (' \t\r\n'.includes(this.#text[this.at] ?? '#')) this.at += 1;
    return this.#text[this.at] ?? '';
  }

  #found(): string {
    const found = this.#text[this.at];
    return found === undefined ? ', found the end' : `, found ${JSON.stringify(found)}`;
  }
}
