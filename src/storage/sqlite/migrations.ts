import type { Database } from "bun:sqlite";
import { queryValue } from "./connection.ts";

/** "PLNT": marks a file as this program's (https://sqlite.org/pragma.html#pragma_application_id). */
const APPLICATION_ID = 0x504c4e54;

/** Step n migrates a database from version n to n + 1. Released steps never change. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE plants (
     owner TEXT NOT NULL,
     id INTEGER NOT NULL,
     name TEXT NOT NULL,
     tag TEXT,
     idempotency_key TEXT,
     PRIMARY KEY (owner, id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX plants_by_tag ON plants (owner, tag, id) WHERE tag IS NOT NULL;
   CREATE TABLE tokens (
     digest TEXT NOT NULL PRIMARY KEY,
     owner TEXT NOT NULL,
     scopes TEXT NOT NULL,
     label TEXT,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     last_used_at INTEGER,
     revoked_at INTEGER
   ) STRICT, WITHOUT ROWID;`,
];

/**
 * Migrates the database to this program's version, with one transaction per step.
 * @throws Error when the file is of a newer version or of another program; then nothing is written
 */
export function migrate(db: Database): void {
  const version = supportedVersion(db);
  for (let step = version; step < MIGRATIONS.length; step++) applyStep(db, step);
}

/**
 * Returns the version of the database, which is at most this program's; 0 if it is empty.
 * @throws Error when the file is of a newer version or of another program
 */
export function supportedVersion(db: Database): number {
  const version = versionOf(db);
  const isOurs = Number(queryValue(db, "PRAGMA application_id")) === APPLICATION_ID;
  const isEmpty = Number(queryValue(db, "SELECT count(*) FROM sqlite_schema")) === 0;
  if (!isOurs && !isEmpty) {
    throw new Error(`${db.filename} is a database of another program: use another file`);
  }
  if (version > MIGRATIONS.length) {
    throw new Error(
      `${db.filename} was written by a newer Plant Store (database version ${version}, this program supports ${MIGRATIONS.length}): upgrade this program`,
    );
  }
  return version;
}

/** Another process may have applied the step since the version was read, so the version is read again under the write lock. */
function applyStep(db: Database, step: number): void {
  db.transaction(() => {
    if (versionOf(db) !== step) return;
    db.run(MIGRATIONS[step] as string);
    db.run(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.run(`PRAGMA user_version = ${step + 1}`);
  }).immediate();
}

const versionOf = (db: Database): number => Number(queryValue(db, "PRAGMA user_version"));
