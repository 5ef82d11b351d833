/** The driver over `node:sqlite`, where the running Node has it. */
import { errorText } from '../../base/errors.ts';
import type { SqliteConnection, SqliteDriver, SqliteRow, SqliteValue } from './sqlite-driver.ts';
import { failureKind, SqliteFailure } from './sqlite-failure.ts';

/** The part of `node:sqlite` used here; the oldest Node supported has no types for it. */
interface NodeSqlite {
  readonly DatabaseSync: new (
    path: string,
  ) => {
    exec(sql: string): void;
    prepare(sql: string): NodeStatement;
    close(): void;
  };
}

interface NodeStatement {
  run(...values: readonly SqliteValue[]): { readonly changes: number | bigint };
  get(...values: readonly SqliteValue[]): SqliteRow | undefined;
  all(...values: readonly SqliteValue[]): readonly SqliteRow[];
}

/** Null where this Node has no `node:sqlite`. */
export function loadNodeSqlite(): SqliteDriver | null {
  const builtin = process.getBuiltinModule as ((name: string) => unknown) | undefined;
  const loaded = builtin?.('node:sqlite') as NodeSqlite | undefined;
  if (loaded === undefined) return null;
  const { DatabaseSync } = loaded;
  return { name: 'node:sqlite', open: (path) => open(() => new DatabaseSync(path)) };
}

function open(create: () => InstanceType<NodeSqlite['DatabaseSync']>): SqliteConnection {
  const database = guarded(create);
  return {
    exec: (sql) => guarded(() => database.exec(sql)),
    prepare: (sql) => {
      const statement = guarded(() => database.prepare(sql));
      return {
        run: (...values) => guarded(() => Number(statement.run(...values).changes)),
        get: (...values) => guarded(() => statement.get(...values)),
        all: (...values) => guarded(() => statement.all(...values)),
      };
    },
    close: () => guarded(() => database.close()),
  };
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && typeof error.errcode === 'number') {
      throw new SqliteFailure(failureKind(error.errcode), errorText(error), error);
    }
    throw error;
  }
}
