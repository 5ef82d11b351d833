/**
 * The raw limit: single-row commits of SQLite with `synchronous=FULL`, through the driver that the
 * library itself uses, in the process and on the file system of the workload.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadSqliteDriver } from 'holdfast/testing';

const COMMITS = 1_000;
const BODY = 'x'.repeat(100);

/** Commits of one row a second. */
export class RawLimit {
  readonly #insert: () => void;
  readonly #close: () => void;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    const connection = loadSqliteDriver().open(join(directory, 'raw.db'));
    connection.exec(`
      pragma journal_mode = wal;
      pragma synchronous = full;
      create table if not exists log(id integer primary key, body text not null) strict;
    `);
    const statement = connection.prepare('insert into log(body) values(?)');
    this.#insert = () => {
      statement.run(BODY);
    };
    this.#close = () => connection.close();
    // The first commits grow the file and warm the driver up.
    for (let count = 0; count < COMMITS / 5; count += 1) this.#insert();
  }

  measure(): number {
    const begun = performance.now();
    for (let count = 0; count < COMMITS; count += 1) this.#insert();
    return (COMMITS / (performance.now() - begun)) * 1_000;
  }

  close(): void {
    this.#close();
  }
}
