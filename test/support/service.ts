import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "../../src/app.ts";
import { withIssuer } from "../../src/auth/authenticator.ts";
import type { Issuer } from "../../src/auth/issuer.ts";
import { Tokens } from "../../src/auth/tokens.ts";
import type { Plant } from "../../src/domain/plant.ts";
import { SCOPES, type Scope } from "../../src/domain/token.ts";
import type { ResponseEvent } from "../../src/http/call.ts";
import { routes } from "../../src/http/routes.ts";
import { SendBudget } from "../../src/http/send-budget.ts";
import { HttpServer, type ServerOptions } from "../../src/http/server.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { onCleanUp } from "./cleanup.ts";

/** A service that runs in this process, with its own port and database. */
export interface Service {
  readonly url: string;
  readonly port: number;
  readonly storage: Storage;
  readonly tokens: Tokens;
  /** The events of all responses, newest last. */
  readonly responses: ResponseEvent[];
  readonly budget: SendBudget;
  /** Creates a token, by default for a new owner. */
  token(options?: { owner?: string; scopes?: readonly Scope[]; expiresAt?: number }): Promise<string>;
  stop(): Promise<void>;
}

/** Creates a folder for one test's files. It is removed when the tests end, unless `remove` is called before. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "plantstore-test-"));
  const removeFiles = () => rmSync(path, { recursive: true, force: true });
  const cancel = onCleanUp(removeFiles);
  return {
    path,
    remove() {
      removeFiles();
      cancel();
    },
  };
}

let owners = 0;

/** Returns a unique owner. */
export const newOwner = (): string => `owner-${process.pid}-${++owners}`;

/** Inserts plants directly into storage, which is faster than the API. */
export async function insertPlants(service: Service, owner: string, plants: readonly Plant[]): Promise<void> {
  for (let start = 0; start < plants.length; start += 2_000) {
    const batch = plants.slice(start, start + 2_000);
    await Promise.all(batch.map((plant) => service.storage.insertPlant(owner, plant, undefined)));
  }
}

/** The database of one service. */
export interface OwnDatabase {
  readonly storage: Storage;
  /** Removes the database after the storage is closed. */
  remove(): void | Promise<void>;
}

/** Creates a SQLite database and opens it. */
export async function openSqlite(): Promise<OwnDatabase> {
  const folder = temporaryFolder();
  return {
    storage: await openStorage({ engine: "sqlite", file: `${folder.path}/plants.db` }, { forServer: true }),
    remove: folder.remove,
  };
}

export interface ServiceOptions {
  /** Opens the database; SQLite by default. */
  readonly open?: () => Promise<OwnDatabase>;
  /** Wraps the storage, for example to inject faults. */
  readonly wrap?: (storage: Storage) => Storage;
  /** An identity provider whose tokens are accepted too. */
  readonly issuer?: Issuer;
  /** Options of the HTTP server. By default there are no rate limits and no allowed origins. */
  readonly server?: Partial<ServerOptions>;
  /** The budget for unread response bodies; 64 MiB by default. */
  readonly sendBufferBytes?: number;
}

/** Starts the service on an empty database. It stops when the tests end, unless `stop` is called before. */
export async function startService({
  open = openSqlite,
  wrap = (storage) => storage,
  issuer,
  server: options,
  sendBufferBytes = 64 * 1024 * 1024,
}: ServiceOptions = {}): Promise<Service> {
  const { storage, remove } = await open();
  const tokens = new Tokens(storage);
  const responses: ResponseEvent[] = [];
  const budget = new SendBudget(sendBufferBytes, () => server.pendingRequests);
  const server = new HttpServer({
    host: "127.0.0.1",
    port: 0,
    reusePort: false,
    idleTimeoutSeconds: 30,
    routes: routes(new App(wrap(storage)), { isDraining: () => false, ping: () => storage.ping() }, budget),
    authenticator: withIssuer(tokens, issuer),
    ...options,
    onResponse: (event) => responses.push(event),
  });
  const stop = async () => {
    cancel();
    await server.stop(1_000);
    await storage.close();
    await remove();
  };
  const cancel = onCleanUp(stop);
  return {
    url: server.url,
    port: Number(new URL(server.url).port),
    storage,
    tokens,
    responses,
    budget,
    token: ({ owner = newOwner(), scopes = SCOPES, expiresAt } = {}) => tokens.create({ owner, scopes, expiresAt }),
    stop,
  };
}
