import type { Database } from "bun:sqlite";
import type { AppError } from "../../domain/error.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH, parseNewPlant } from "../../domain/plant.ts";
import { OWNER_MAX_LENGTH, SCOPES } from "../../domain/token.ts";
import { pragma } from "./connection.ts";
import { knownVersion } from "./migrations.ts";

/** How many there are of each. */
export interface Contents {
  readonly plants: number;
  /** Owners who have a plant. */
  readonly owners: number;
  readonly tokens: number;
}

/** Faults that are told of a database; more help nobody. */
const MAX_FAULTS = 20;
/** Rows that one short statement reads, so that the log of a running server need not wait for all of them. */
const CHUNK_LENGTH = 10_000;
/** Checking an index looks up every row: 64 MiB instead of 2 make that three times as fast (measured 2026-11). */
const CACHE_KIB = 64 * 1024;

/** @throws Error when the database is another program's, a newer version's, or empty */
export function requireOurs(db: Database): void {
  if (knownVersion(db) === 0) throw new Error(`${db.filename} is an empty file`);
}

/** Counts what is in a database. */
export function countContents(db: Database): Contents {
  const count = (sql: string) => Number(pragma(db, sql));
  return {
    plants: count("SELECT count(*) FROM plants"),
    owners: count("SELECT count(DISTINCT owner) FROM plants"),
    tokens: count("SELECT count(*) FROM tokens"),
  };
}

/** What is wrong with the structure of the file: pages, indexes, constraints. Nothing, when it is empty. */
export function structureFaults(db: Database): string[] {
  db.run(`PRAGMA cache_size = ${-CACHE_KIB}`);
  const rows = db.prepare<{ integrity_check: string }, []>(`PRAGMA integrity_check(${MAX_FAULTS})`).all();
  return rows.map(({ integrity_check }) => integrity_check.replaceAll("\n", " ")).filter((text) => text !== "ok");
}

/** Which rows no request could have made: every name, tag, owner and key is held against its limits. */
export function rowFaults(db: Database): string[] {
  const faults: string[] = [];
  for (const fault of allRowFaults(db)) {
    faults.push(fault);
    if (faults.length === MAX_FAULTS) break;
  }
  return faults;
}

interface RawPlant {
  readonly owner: string;
  readonly id: bigint;
  readonly name: Uint8Array;
  readonly tag: Uint8Array | null;
  readonly idempotency_key: string | null;
}

function* allRowFaults(db: Database): Generator<string> {
  // As bytes: as text, whatever is no UTF-8 would come back as if it were.
  const columns = "owner, id, CAST(name AS BLOB) AS name, CAST(tag AS BLOB) AS tag, idempotency_key";
  const select = (where: string) => `SELECT ${columns} FROM plants ${where} ORDER BY owner, id LIMIT ${CHUNK_LENGTH}`;
  const next = db.prepare<RawPlant, [string, bigint]>(select("WHERE (owner, id) > (?, ?)"));
  let rows = db.prepare<RawPlant, []>(select("")).all();
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    for (const row of rows) {
      const fault = plantFault(row);
      if (fault !== undefined) yield `plant ${row.id} of ${JSON.stringify(row.owner)}: ${fault}`;
    }
    rows = next.all(last.owner, last.id);
  }
  const tokens = db.prepare<{ digest: string; owner: string; scopes: string }, []>("SELECT * FROM tokens").all();
  for (const { digest, owner, scopes } of tokens) {
    const isRight =
      /^[0-9a-f]{64}$/.test(digest) && isOwner(owner) && scopes.split(" ").every((scope) => SCOPE_NAMES.has(scope));
    if (!isRight) yield `token ${JSON.stringify(digest.slice(0, 12))}: digest, owner or scopes are malformed`;
  }
}

const SCOPE_NAMES: ReadonlySet<string> = new Set(["", ...SCOPES]);
const KEY = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_MAX_LENGTH}}$`);
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const isOwner = (owner: string): boolean =>
  owner !== "" && owner.isWellFormed() && [...owner].length <= OWNER_MAX_LENGTH;

function plantFault({ owner, id, name, tag, idempotency_key: key }: RawPlant): string | undefined {
  if (!isOwner(owner)) return "the owner is malformed";
  if (key !== null && !KEY.test(key)) return "the idempotency key is malformed";
  try {
    parseNewPlant({ id, name: decoder.decode(name), ...(tag === null ? {} : { tag: decoder.decode(tag) }) });
    return undefined;
  } catch (error) {
    return error instanceof TypeError ? "name or tag are no UTF-8" : (error as AppError).message;
  }
}
