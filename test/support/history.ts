import { Connection, type WireReply, type WireRequest } from "./connection.ts";
import type { Operation } from "./linearizability.ts";

const KEYS = [0, 1, 2, 3];
const WRITERS = 3;
const READERS = 8;
const OPERATIONS_PER_CLIENT = 20;

/** Queries for the same plants. The server can cache all but the last, which is unique in each request. */
const LIST_QUERIES = [
  () => "fields=id",
  () => "fields=id,name",
  () => "fields=id&limit=100",
  () => "fields=id&limit=2",
  () => `fields=id&uncached=${Math.random()}`,
];

/** Number of operations in each history. */
export const HISTORY_LENGTH = (WRITERS + READERS) * OPERATIONS_PER_CLIENT;

export interface HistoryOptions {
  readonly token: string;
  /** The lowest id of the history: a multiple of 100, greater than the ids of all earlier histories. */
  readonly firstId: number;
  /** Resolves with the base URL for a client when its server runs. */
  urlOf(client: number): Promise<string>;
  /** Called after each reply. */
  onReply?(): void;
}

/** An operation before its reply. */
type Call =
  | { readonly kind: "create" | "delete"; readonly key: number }
  | { readonly kind: "list"; readonly query: string };

/**
 * Creates, deletes and lists a few plants of one owner with several concurrent clients, and records every operation.
 * @throws Error when a reply is neither expected nor 5xx
 */
export async function recordHistory({ token, firstId, urlOf, onReply }: HistoryOptions): Promise<Operation[]> {
  const history: Operation[] = [];
  let clock = 0;

  async function run(client: number): Promise<void> {
    let connection: Connection | undefined;
    for (let count = 0; count < OPERATIONS_PER_CLIENT; count++) {
      while (!connection?.isOpen) connection = await Connection.open(await urlOf(client)).catch(() => undefined);
      const call = chooseCall(client);
      const request = toRequest(call, token, firstId);
      const invoked = clock++;
      const reply = await connection.send(request).catch(() => undefined);
      history.push(toOperation(call, reply, { invoked, returned: clock++ }, firstId));
      onReply?.();
    }
    connection?.close();
  }

  await Promise.all(Array.from({ length: WRITERS + READERS }, (_, client) => run(client)));
  return history;
}

const pickRandom = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T;

function chooseCall(client: number): Call {
  if (client >= WRITERS) return { kind: "list", query: pickRandom(LIST_QUERIES)() };
  return { kind: pickRandom(["create", "delete"]), key: pickRandom(KEYS) };
}

function toRequest(call: Call, token: string, firstId: number): WireRequest {
  const headers = { Authorization: `Bearer ${token}` };
  if (call.kind === "list") return { method: "GET", path: `/plants?after=${firstId - 1}&${call.query}`, headers };
  const id = firstId + call.key;
  if (call.kind === "delete") return { method: "DELETE", path: `/plants/${id}`, headers };
  const body = JSON.stringify({ id, name: "Fern" });
  return { method: "POST", path: "/plants", headers: { ...headers, "Content-Type": "application/json" }, body };
}

/**
 * Converts a request and its reply to an operation. After a failed connection or a 5xx status, the outcome of a write is
 * unknown and a list covers no key.
 */
function toOperation(
  call: Call,
  reply: WireReply | undefined,
  interval: { readonly invoked: number; readonly returned: number },
  firstId: number,
): Operation {
  const isUnknown = reply === undefined || reply.status >= 500;
  if (call.kind === "list") {
    const seen = isUnknown ? { covered: 0, present: 0 } : readList(reply, firstId);
    return { kind: "list", ...interval, ...seen };
  }
  const { kind, key } = call;
  if (isUnknown) return { kind, key, outcome: "unknown", ...interval, returned: Number.POSITIVE_INFINITY };
  const [done, rejected] = kind === "create" ? [200, 40_003] : [204, 40_400];
  const outcome = reply.status < 400 ? reply.status : (JSON.parse(reply.text) as { error: number }).error;
  if (outcome !== done && outcome !== rejected) throw new Error(`unexpected reply to a ${kind}: ${reply.text}`);
  return { kind, key, outcome: outcome === done ? "done" : "rejected", ...interval };
}

/** Parses a list. A page with a `Link` header covers only the keys up to its last plant. */
function readList({ status, headers, text }: WireReply, firstId: number): { covered: number; present: number } {
  if (status !== 200) throw new Error(`unexpected reply to a list: ${text}`);
  const keys = (JSON.parse(text) as { id: number }[]).map(({ id }) => id - firstId);
  const last = headers.has("link") ? Math.max(...keys) : KEYS.length - 1;
  return { covered: 2 ** (last + 1) - 1, present: keys.reduce((bits, key) => bits | (1 << key), 0) };
}
