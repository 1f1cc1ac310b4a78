import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";

/** The database that a URL names: a file, or `postgres://user:password@host:port/database` with the parameters of libpq. */
export type DatabaseUrl =
  | { readonly engine: "sqlite"; readonly file: string }
  | { readonly engine: "postgres"; readonly url: string };

/** Parses `sqlite:<file>`, or a PostgreSQL URL with a single host and a database name; `undefined` for any other text. */
export function parseDatabaseUrl(text: string): DatabaseUrl | undefined {
  const [, file] = /^sqlite:(?!:memory:)(.+)/s.exec(text) ?? [];
  if (file !== undefined) return { engine: "sqlite", file };
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) return undefined;
  const { hostname, pathname } = new URL(text);
  const isComplete = !hostname.includes(",") && /^\/([^%/]|%[0-9a-fA-F]{2})+$/.test(pathname);
  return isComplete ? { engine: "postgres", url: text } : undefined;
}

/** Formats a database as the URL that {@link parseDatabaseUrl} parses. */
export function formatDatabaseUrl(database: DatabaseUrl): string {
  switch (database.engine) {
    case "sqlite":
      return `sqlite:${database.file}`;
    case "postgres":
      return database.url;
  }
}

/** Formats a database as a URL for logs: without the user, the password and the parameters, any of which may be secret. */
export function formatForLog(database: DatabaseUrl): string {
  switch (database.engine) {
    case "sqlite":
      return formatDatabaseUrl(database);
    case "postgres": {
      const { protocol, host, pathname } = new URL(database.url);
      return `${protocol}//${host}${pathname}`;
    }
  }
}

/** Returns whether two URLs name the same database, however they are written. */
export const isSameDatabase = (a: DatabaseUrl, b: DatabaseUrl): boolean => locationOf(a) === locationOf(b);

/** Returns the path of the file, or the host, port and name of the database. */
function locationOf(database: DatabaseUrl): string {
  switch (database.engine) {
    case "sqlite":
      return existsSync(database.file) ? realpathSync(database.file) : resolve(database.file);
    case "postgres": {
      const { hostname, port, pathname } = new URL(database.url);
      return `${hostname}:${port || "5432"}${decodeURIComponent(pathname)}`;
    }
  }
}
