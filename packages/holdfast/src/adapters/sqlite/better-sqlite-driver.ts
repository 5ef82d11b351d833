/** The driver over better-sqlite3, an optional dependency for a Node without `node:sqlite`. */
import { createRequire } from 'node:module';
import type BetterSqlite from 'better-sqlite3';
import { errorText } from '../../base/errors.ts';
import type { SqliteConnection, SqliteDriver, SqliteRow, SqliteValue } from './sqlite-driver.ts';
import { failureKindOfName, SqliteFailure } from './sqlite-failure.ts';

/** Null where better-sqlite3 is not installed or cannot be loaded. */
export function loadBetterSqlite(): SqliteDriver | null {
  try {
    const Database = createRequire(import.meta.url)('better-sqlite3') as typeof BetterSqlite;
    // The native part is loaded by the first database, and may be missing on its own.
    new Database(':memory:').close();
    return {
      name: 'better-sqlite3',
      open: (path) => open(() => new Database(path, { timeout: 0 })),
    };
  } catch {
    return null;
  }
}

function open(create: () => BetterSqlite.Database): SqliteConnection {
  const database = guarded(create);
  return {
    exec: (sql) => {
      guarded(() => database.exec(sql));
    },
    prepare: (sql) => {
      const statement = guarded(() => database.prepare<SqliteValue[], SqliteRow>(sql));
      return {
        run: (...values) => guarded(() => statement.run(...values).changes),
        get: (...values) => guarded(() => statement.get(...values)),
        all: (...values) => guarded(() => statement.all(...values)),
      };
    },
    close: () => {
      guarded(() => database.close());
    },
  };
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
      const { code } = error;
      if (code.startsWith('SQLITE_')) {
        throw new SqliteFailure(failureKindOfName(code), errorText(error), error);
      }
    }
    throw error;
  }
}
