import { openStorage } from "../../src/storage/open.ts";
import { newPostgresDatabase } from "./postgres.ts";
import { type OwnDatabase, openSqlite } from "./service.ts";

/** Every engine, by name: `describe.each(ENGINES)("on %s", (_, open) => ... startService({ open }) ...)`. */
export const ENGINES: [name: string, open: () => Promise<OwnDatabase>][] = [
  ["SQLite", openSqlite],
  ["PostgreSQL", openPostgres],
];

async function openPostgres(): Promise<OwnDatabase> {
  const { url, drop } = await newPostgresDatabase();
  return { storage: await openStorage(url, { forServer: true, poolSize: 10 }), remove: drop };
}
