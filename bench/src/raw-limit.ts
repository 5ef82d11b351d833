/**
 * The raw limit: single-row commits of SQLite with `synchronous=FULL`, through the driver that the
 * library itself uses, in the process and on the file system of the workload.
 *
 * Each measurement begins with a new file, as each run of a workload does: a write-ahead log that
 * still grows takes twice as long to sync as one that is written over.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadSqliteDriver, type SqliteConnection } from 'holdfast/testing';

const COMMITS = 1_000;
const BODY = 'x'.repeat(100);

/** Commits of one row a second; `directory` must exist. */
export function measureRawLimit(directory: string): number {
  const path = join(directory, 'raw.db');
  const connection = openRaw(path);
  try {
    const insert = connection.prepare('insert into log(body) values(?)');
    insert.run(BODY);
    const begun = performance.now();
    for (let count = 0; count < COMMITS; count += 1) insert.run(BODY);
    return (COMMITS / (performance.now() - begun)) * 1_000;
  } finally {
    connection.close();
    rmSync(path);
  }
}

function openRaw(path: string): SqliteConnection {
  const connection = loadSqliteDriver().open(path);
  connection.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    create table log(id integer primary key, body text not null) strict;
  `);
  return connection;
}
