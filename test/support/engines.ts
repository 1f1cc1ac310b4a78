import { openStorage } from "../../src/storage/open.ts";
import { newPostgresDatabase } from "./postgres.ts";
import { type OwnDatabase, openSqlite, temporaryFolder } from "./service.ts";

/** All engines, by name: `describe.each(ENGINES)("on %s", (_, open) => ... startService({ open }) ...)`. */
export const ENGINES: [name: string, open: () => Promise<OwnDatabase>][] = [
  ["SQLite", openSqlite],
  ["PostgreSQL", openPostgres],
];

/** An empty database, opened by its URL. */
export interface TestDatabase {
  readonly url: string;
  /** Removes the database. No process may be using it. */
  drop(): void | Promise<void>;
}

/** An empty database on each engine, by name: `describe.each(DATABASES)("on %s", (_, newDatabase) => ...)`. */
export const DATABASES: [name: string, newDatabase: () => Promise<TestDatabase>][] = [
  ["SQLite", newSqliteDatabase],
  ["PostgreSQL", newPostgresDatabase],
];

async function newSqliteDatabase(): Promise<TestDatabase> {
  const { path, remove } = temporaryFolder();
  return { url: `sqlite:${path}/plants.db`, drop: remove };
}

async function openPostgres(): Promise<OwnDatabase> {
  const { url, drop } = await newPostgresDatabase();
  return { storage: await openStorage({ engine: "postgres", url }, { forServer: true, poolSize: 10 }), remove: drop };
}
