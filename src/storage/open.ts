import { openSqlite } from "./sqlite/storage.ts";
import type { Storage } from "./storage.ts";

/**
 * Opens the database that a URL names, migrated and checked.
 * @throws Error with the reason and the remedy, when it cannot be used.
 */
export function openStorage(url: string, options: { forServer: boolean }): Promise<Storage> {
  return openSqlite(url.slice("sqlite:".length), options);
}
