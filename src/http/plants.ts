import type { App } from "../app.ts";
import { AppError } from "../domain/error.ts";
import { LIST_PARAMETERS, parseListQuery } from "../domain/list-query.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH, parsePlant, requirePlantId } from "../domain/plant.ts";
import { readJson } from "./body.ts";
import { type Call, isVisibleAscii } from "./call.ts";
import type { ListCache } from "./list-cache.ts";
import { type Chunk, readChunks } from "./list-reader.ts";
import { pageHeaders, sendList, sendPage, streamList } from "./list-response.ts";
import type { ListScheduler } from "./list-scheduler.ts";
import { readQuery } from "./query.ts";
import { respond } from "./response.ts";
import type { SendBudget } from "./send-budget.ts";

/** `POST /plants` */
export async function createPlant(app: App, call: Call): Promise<Response> {
  const idempotencyKey = readIdempotencyKey(call.request);
  const plant = parsePlant(await readJson(call.request));
  await app.createPlant(call.owner, plant, idempotencyKey);
  return respond(call, 200, JSON.stringify({ ...plant, id: undefined }));
}

/** Shared state of all list requests. */
export interface ListContext {
  readonly app: App;
  readonly cache: ListCache;
  readonly budget: SendBudget;
  readonly scheduler: ListScheduler;
}

/** `GET /plants` */
export function listPlants(context: ListContext, call: Call): Response | Promise<Response> {
  const { app, cache, budget } = context;
  const { owner, request } = call;
  const version = app.version(owner);
  const cached = version === undefined ? undefined : cache.get(owner, request.url, version);
  return cached === undefined ? readList(context, call, version) : sendList(call, budget, cached.body, cached.headers);
}

async function readList(context: ListContext, call: Call, version: number | undefined): Promise<Response> {
  const { app, cache, budget, scheduler } = context;
  const { owner, request } = call;
  const query = parseListQuery(readQuery(request.url, LIST_PARAMETERS, "fields"));
  const chunks = readChunks(app, scheduler, owner, query);
  // The first chunk is read before the response begins, so that a database error still sets the status.
  const first = (await chunks.next()).value as Chunk;
  if (!first.isLast) {
    return query.limit === undefined
      ? streamList(call, budget, first, chunks)
      : sendPage(call, budget, query.limit, first, chunks);
  }
  const body = `[${first.json}]`;
  const headers = pageHeaders(request.url, first.next);
  if (version !== undefined) cache.set(owner, request.url, { version, body, headers });
  return sendList(call, budget, body, headers);
}

const NO_HEADERS = {};

/** `DELETE /plants/{id}` */
export async function deletePlant(app: App, call: Call): Promise<Response> {
  const { id: text = "" } = call.request.params as { id?: string };
  await app.deletePlant(call.owner, requirePlantId(text, "id"));
  return respond(call, 204, null, NO_HEADERS);
}

function readIdempotencyKey(request: Request): string | undefined {
  const key = request.headers.get("idempotency-key");
  if (key === null) return undefined;
  if (isVisibleAscii(key, IDEMPOTENCY_KEY_MAX_LENGTH)) return key;
  const message = `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} visible ASCII characters, sent only once`;
  throw new AppError("invalid_parameter", message);
}
