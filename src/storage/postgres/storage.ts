import type { Owner, Plant, PlantId } from "../../domain/plant.ts";
import { ID_MAX, ID_MIN } from "../../domain/plant.ts";
import type { Token } from "../../domain/token.ts";
import { BatchQueue } from "../batch-queue.ts";
import {
  LIST_COLUMNS,
  type PlantRow,
  type StoredPlantRow,
  TOKEN_COLUMNS,
  type TokenRow,
  tokenValues,
  toPlant,
  toStoredPlant,
  toToken,
} from "../rows.ts";
import type { Commit, InsertOutcome, PlantKey, PlantRange, Storage, StorageState, StoredPlant } from "../storage.ts";
import type { ServerOptions } from "./connection.ts";
import { migrate } from "./migrations.ts";
import { Pool } from "./pool.ts";
import { Reader } from "./reader.ts";
import { deletePlants, Inserter, splitByIds } from "./writes.ts";

/** Options of {@link openPostgres}. */
export interface PostgresOptions extends ServerOptions {
  /** Maximum number of connections of this process, at least 2. */
  readonly poolSize: number;
  /** Whether to fail instead of creating missing tables. */
  readonly mustExist: boolean;
  onCommit(commit: Commit): void;
}

const SELECT_PLANTS = `SELECT ${LIST_COLUMNS} FROM plants WHERE owner = $1 AND id >= $2 ORDER BY id LIMIT $3`;
const SELECT_PLANTS_BY_TAG = `SELECT ${LIST_COLUMNS} FROM plants WHERE owner = $1 AND id >= $2 AND tag = $4 ORDER BY id LIMIT $3`;
/** Ranges of at most this length are read without regard to `maxCharacters`: even with the longest names they are small. */
const SHORT_RANGE_LENGTH = 64;
/** Limits a range to about `maxCharacters`. UTF-8 has at most three bytes for each UTF-16 unit. */
const withinCharacters = (select: string, maxCharacters: number): string =>
  `SELECT ${LIST_COLUMNS} FROM (SELECT ${LIST_COLUMNS}, sum(octet_length(name) + octet_length(coalesce(tag, '')))
     OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM (${select}) AS range) AS sized
   WHERE before IS NULL OR before <= ${3 * maxCharacters} ORDER BY id`;
const SELECT_STORED = "SELECT * FROM plants WHERE owner = $1 AND id > $2 ORDER BY id LIMIT $3";
const SELECT_NEXT_OWNERS = "SELECT * FROM plants WHERE owner > $1 ORDER BY owner, id LIMIT $2";
/** Minimum interval between queries for the size, for which the server reads the sizes of all files of the database. */
const BYTES_INTERVAL_MS = 10_000;
const SELECT_BYTES = "SELECT pg_database_size(current_database()) AS bytes";
/** Maximum number of writes in one statement: a power of two, as the size of every batch. */
const MAX_BATCH = 256;
/** If a statement for token lookups fails after more than this time, the queued lookups fail with it. */
const SLOW_LOOKUP_MS = 1_000;
const SELECT_TOKENS_BY_DIGEST = "SELECT * FROM tokens WHERE digest = ANY($1::text[])";
const TOKEN_PARAMETERS = TOKEN_COLUMNS.map((column, n) => `$${n + 1}::${column.endsWith("_at") ? "bigint" : "text"}`);
const INSERT_TOKEN = `INSERT INTO tokens (${TOKEN_COLUMNS}) VALUES (${TOKEN_PARAMETERS})`;
/** `is_first` is unique, so that only one of several concurrent first tokens is inserted. */
const INSERT_FIRST_TOKEN = `INSERT INTO tokens
  (${TOKEN_COLUMNS}, is_first) SELECT ${TOKEN_PARAMETERS}, true WHERE NOT EXISTS (SELECT 1 FROM tokens)
  ON CONFLICT (is_first) DO NOTHING RETURNING digest`;
const REVOKE_TOKEN = "UPDATE tokens SET revoked_at = $2 WHERE digest = $1 AND revoked_at IS NULL RETURNING digest";
/** Several processes record uses of a token; the latest one counts. */
const RECORD_LAST_USES = `UPDATE tokens SET last_used_at = greatest(tokens.last_used_at, used.at)
  FROM unnest($1::text[], $2::bigint[]) AS used (digest, at) WHERE tokens.digest = used.digest`;

/**
 * Opens and migrates the PostgreSQL database that a URL names.
 * @throws Error with the cause and the remedy, and without the URL's password, when it cannot be used
 */
export async function openPostgres(options: PostgresOptions): Promise<Storage> {
  try {
    await migrate(options, options.mustExist);
    return new PostgresStorage(options);
  } catch (error) {
    const { host, pathname } = new URL(options.url);
    throw new Error(`cannot use the database ${host}${pathname}: ${(error as Error).message}`, { cause: error });
  }
}

/** Uses separate connections for reads and writes, so that no read waits for a commit. */
class PostgresStorage implements Storage {
  readonly #reads: Pool;
  readonly #reader: Reader;
  readonly #writes: Pool;
  readonly #tokens: BatchQueue<string, Token | undefined>;
  readonly #inserts: BatchQueue<StoredPlant, InsertOutcome>;
  readonly #deletes: BatchQueue<PlantKey, boolean>;
  #bytes: StorageState["bytes"] = {};
  #bytesRequestedMs = Number.NEGATIVE_INFINITY;

  constructor(options: PostgresOptions) {
    const writeConnections = Math.max(1, Math.floor(options.poolSize * 0.4));
    this.#reads = new Pool(options, options.poolSize - writeConnections);
    this.#reader = new Reader(this.#reads);
    this.#tokens = new BatchQueue({
      description: "token lookups are queued for the database",
      slowFailureMs: SLOW_LOOKUP_MS,
      send: (digests) => this.#selectTokensByDigest(digests),
    });
    this.#writes = new Pool(options, writeConnections);
    const shared = {
      description: "writes are queued for the database",
      maxBatch: MAX_BATCH,
      maxBatches: writeConnections,
      timeoutMs: options.queryTimeoutMs,
      keyOf: ({ owner }: PlantKey) => owner,
      split: splitByIds,
      onCommit: options.onCommit,
    };
    const inserter = new Inserter(this.#writes);
    this.#inserts = new BatchQueue<StoredPlant, InsertOutcome>({
      ...shared,
      send: (plants) => inserter.insert(plants),
    });
    this.#deletes = new BatchQueue<PlantKey, boolean>({
      ...shared,
      send: (plants) => deletePlants(this.#writes, plants),
    });
  }

  insertPlant(owner: Owner, plant: Plant, idempotencyKey: string | undefined): Promise<InsertOutcome> {
    return this.#inserts.add({ owner, ...plant, idempotencyKey });
  }

  deletePlant(owner: Owner, id: PlantId): Promise<boolean> {
    return this.#deletes.add({ owner, id });
  }

  async selectPlants(owner: Owner, { after, tag, limit, maxCharacters }: PlantRange): Promise<Plant[]> {
    if (after === ID_MAX) return [];
    const first = after === undefined ? ID_MIN : after + 1n;
    const [select, values] =
      tag === undefined ? [SELECT_PLANTS, [owner, first, limit]] : [SELECT_PLANTS_BY_TAG, [owner, first, limit, tag]];
    const isShort = maxCharacters === undefined || limit <= SHORT_RANGE_LENGTH;
    const rows = await this.#reader.query<PlantRow>(isShort ? select : withinCharacters(select, maxCharacters), values);
    return rows.map(toPlant);
  }

  /** Within one owner, which is the usual case, only the owner's shard is queried. */
  async selectStoredPlants(after: PlantKey | undefined, limit: number): Promise<StoredPlant[]> {
    const select = (sql: string, ...values: unknown[]) => this.#reads.query<StoredPlantRow>(sql, values);
    const same = after === undefined ? [] : await select(SELECT_STORED, after.owner, after.id, limit);
    const remaining = limit - same.length;
    const rows =
      remaining === 0 ? same : [...same, ...(await select(SELECT_NEXT_OWNERS, after?.owner ?? "", remaining))];
    return rows.map(toStoredPlant);
  }

  /** Unknown, because other processes write too. */
  version(): undefined {
    return undefined;
  }

  async insertToken(token: Token): Promise<void> {
    await this.#writes.query(INSERT_TOKEN, tokenValues(token));
  }

  async insertFirstToken(token: Token): Promise<boolean> {
    return (await this.#writes.query(INSERT_FIRST_TOKEN, tokenValues(token))).length > 0;
  }

  selectToken(digest: string): Promise<Token | undefined> {
    return this.#tokens.add(digest);
  }

  async #selectTokensByDigest(digests: readonly string[]): Promise<(Token | undefined)[]> {
    const rows = await this.#reads.query<TokenRow>(SELECT_TOKENS_BY_DIGEST, [[...new Set(digests)]]);
    const tokens = new Map(rows.map((row) => [row.digest, toToken(row)]));
    return digests.map((digest) => tokens.get(digest));
  }

  async selectTokens(): Promise<Token[]> {
    return (await this.#reader.query<TokenRow>("SELECT * FROM tokens ORDER BY created_at, digest", [])).map(toToken);
  }

  async revokeToken(digest: string, revokedAt: number): Promise<boolean> {
    return (await this.#writes.query(REVOKE_TOKEN, [digest, revokedAt])).length > 0;
  }

  async recordLastUses(lastUses: ReadonlyMap<string, number>): Promise<void> {
    await this.#writes.query(RECORD_LAST_USES, [[...lastUses.keys()], [...lastUses.values()]]);
  }

  async ping(): Promise<void> {
    await this.selectToken("");
  }

  async state(): Promise<StorageState> {
    this.#refreshBytes();
    const [reads, writes] = [this.#reads.usage, this.#writes.usage];
    return {
      queuedWrites: this.#inserts.length + this.#deletes.length,
      bytes: this.#bytes,
      connections: { busy: reads.busy + writes.busy, idle: reads.idle + writes.idle },
    };
  }

  /** Updates the size in the background: the server may be slow or unreachable, and metrics must not wait for it. */
  #refreshBytes(): void {
    if (performance.now() - this.#bytesRequestedMs < BYTES_INTERVAL_MS) return;
    this.#bytesRequestedMs = performance.now();
    this.#reads.query<{ bytes: bigint }>(SELECT_BYTES, []).then(
      ([row]) => {
        this.#bytes = { database: Number(row?.bytes) };
      },
      () => {
        this.#bytes = {};
      },
    );
  }

  async close(): Promise<void> {
    await Promise.all([this.#inserts.close(), this.#deletes.close()]);
    this.#reads.close();
    this.#writes.close();
  }
}
