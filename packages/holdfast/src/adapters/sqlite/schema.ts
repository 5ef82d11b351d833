/**
 * The tables of a store file, and how an older file comes to have them.
 *
 * Invariant: a file has one schema version, and an upgrade happens whole or not at all, once,
 * whichever processes open the file.
 */
import type { SqliteConnection } from './sqlite-driver.ts';

/** In the header of the file: `HFST`. */
export const APPLICATION_ID = 0x48465354;
/** The oldest version that can be upgraded. */
export const FIRST_SCHEMA = 1;
/** 2: receipts of artifacts, and their sum. */
export const SCHEMA_VERSION = 2;

const receiptTables = `
  -- What a run holds of artifacts, in bytes: each content once.
  create table artifact_use(
    namespace text not null,
    run text not null,
    bytes integer not null,
    primary key(namespace, run)
  ) strict, without rowid;
  -- What writes returned; artifact is the id of the content.
  create table artifact_receipt(
    artifact integer not null,
    length integer not null,
    media text not null,
    purpose text not null,
    primary key(artifact, media, purpose)
  ) strict, without rowid;
`;

/** All tables of a new file. */
export const schema: string = `
  create table run(
    id integer primary key,
    namespace text not null,
    name text not null,
    token integer not null,
    compacted integer not null default 0,
    created integer not null,
    updated integer not null default 0,
    status text,
    wake integer,
    graph text not null default '',
    due integer not null default 0,
    unique(namespace, name)
  ) strict;
  create index run_created on run(namespace, created, name) where status is not null;
  create index run_open on run(namespace, wake) where status in ('running', 'paused');
  -- One row an append; seq is the sequence of its first event, n how many it holds.
  create table log(
    id integer primary key,
    run integer not null,
    seq integer not null,
    n integer not null,
    body text not null
  ) strict;
  create unique index log_run on log(run, seq);
  create table event_id(
    run integer not null,
    id text not null,
    seq integer not null,
    primary key(run, id)
  ) strict, without rowid;
  create table snapshot(
    id integer primary key,
    run integer not null,
    seq integer not null,
    body text not null,
    unique(run, seq)
  ) strict;
  create table lease(
    namespace text not null,
    key text not null,
    fence integer not null,
    owner text,
    expires integer not null,
    primary key(namespace, key)
  ) strict, without rowid;
  create table artifact(
    id integer primary key,
    namespace text not null,
    run text not null,
    digest text not null,
    bytes blob not null,
    unique(namespace, run, digest)
  ) strict;
  ${receiptTables}
  pragma application_id = ${APPLICATION_ID};
  pragma user_version = ${SCHEMA_VERSION};
`;

/**
 * Version 1 kept no receipts: for what it holds, an empty media type and purpose, which no write
 * has, stand for any.
 */
const fromFirst = `
  ${receiptTables}
  insert into artifact_use
    select namespace, run, sum(length(bytes)) from artifact group by namespace, run;
  insert into artifact_receipt select id, length(bytes), '', '' from artifact;
  pragma user_version = ${SCHEMA_VERSION};
`;

/** Brings an older file to this version. Throws what drivers throw. */
export function upgradeSchema(connection: SqliteConnection): void {
  if (versionOf(connection) === SCHEMA_VERSION) return;
  connection.exec('begin immediate');
  try {
    // Another process may have done it meanwhile.
    if (versionOf(connection) === FIRST_SCHEMA) connection.exec(fromFirst);
    connection.exec('commit');
  } catch (error) {
    connection.exec('rollback');
    throw error;
  }
}

function versionOf(connection: SqliteConnection): number {
  return Number(connection.prepare('pragma user_version').get()?.['user_version']);
}
