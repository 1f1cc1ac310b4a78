import { describe, expect, it } from "bun:test";
import {
  type DatabaseUrl,
  formatDatabaseUrl,
  formatForLog,
  isSameDatabase,
  parseDatabaseUrl,
} from "../../src/storage/database-url.ts";

const parse = (text: string): DatabaseUrl => {
  const database = parseDatabaseUrl(text);
  if (database === undefined) throw new Error(`${text} is invalid`);
  return database;
};

describe("parseDatabaseUrl", () => {
  const invalid = [
    "",
    "plants.db",
    "sqlite:",
    "sqlite::memory:",
    "mysql://a/b",
    "postgres://a",
    "postgres://a,b/plants",
  ];
  it.each(invalid)("returns undefined for %j", (text) => {
    expect(parseDatabaseUrl(text)).toBeUndefined();
  });

  it.each(["sqlite:data/plants.db", "sqlite:/tmp/a b.db", "postgresql://ann:secret@host:1/plants?sslmode=require"])(
    "is the inverse of formatDatabaseUrl: %j",
    (text) => {
      expect(formatDatabaseUrl(parse(text))).toBe(text);
    },
  );
});

describe("formatForLog", () => {
  it("removes the user, the password and the parameters", () => {
    expect(formatForLog(parse("postgres://ann:secret@host:1/plants?password=secret"))).toBe("postgres://host:1/plants");
    expect(formatForLog(parse("sqlite:plants.db"))).toBe("sqlite:plants.db");
  });
});

describe("isSameDatabase", () => {
  const pairs: [a: string, b: string, isSame: boolean][] = [
    ["postgres://ann@host/plants", "postgresql://bob@host:5432/%70lants?sslmode=prefer", true],
    ["postgres://host/plants", "postgres://host/others", false],
    ["postgres://host/plants", "postgres://host:5433/plants", false],
    ["sqlite:missing/plants.db", "sqlite:missing/./plants.db", true],
    ["sqlite:missing/plants.db", "sqlite:missing/others.db", false],
    ["sqlite:host:5432/plants", "postgres://host/plants", false],
  ];
  it.each(pairs)("compares %j and %j: %j", (a, b, isSame) => {
    expect(isSameDatabase(parse(a), parse(b))).toBe(isSame);
  });
});
