/** What this room uses of picomatch 4, which ships no types of its own. */
declare module 'picomatch' {
  interface PicomatchOptions {
    readonly dot?: boolean;
    readonly windows?: boolean;
    readonly nonegate?: boolean;
    readonly strictBrackets?: boolean;
    readonly strictSlashes?: boolean;
    readonly flags?: string;
  }

  /** Compiles globs; a path matches when any of them does. Throws for a glob it cannot read. */
  function picomatch(
    globs: readonly string[],
    options?: PicomatchOptions,
  ): (path: string) => boolean;

  export = picomatch;
}
