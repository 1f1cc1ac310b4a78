import type { App, Page } from "../app.ts";
import { AppError } from "../domain/error.ts";
import { toJsonNumber } from "../domain/json.ts";
import { DEFAULT_FIELDS, type Field, LIST_PARAMETERS, parseListQuery } from "../domain/page.ts";
import {
  IDEMPOTENCY_KEY_MAX_LENGTH,
  idTextFault,
  type NewPlant,
  type PlantId,
  parseNewPlant,
  parsePlantId,
} from "../domain/plant.ts";
import { readJson } from "./body.ts";
import { type Call, isVisibleAscii, json } from "./call.ts";
import type { ListCache } from "./list-cache.ts";
import { readQuery, withParameter } from "./query.ts";

const encoder = new TextEncoder();

/** `POST /plants` */
export async function createPlant(app: App, call: Call): Promise<Response> {
  const idempotencyKey = readIdempotencyKey(call.request);
  const plant = parseNewPlant(await readJson(call.request));
  await app.createPlant(call.owner, plant, idempotencyKey);
  return json(call, 200, JSON.stringify({ name: plant.name, tag: plant.tag }));
}

/** `GET /plants` */
export function listPlants(app: App, cache: ListCache, call: Call): Response | Promise<Response> {
  const { owner, request } = call;
  const revision = app.revision(owner);
  const known = revision === undefined ? undefined : cache.get(owner, request.url, revision);
  return known === undefined ? readPlants(app, cache, call, revision) : json(call, 200, known.body, known.headers);
}

async function readPlants(app: App, cache: ListCache, call: Call, revision: number | undefined): Promise<Response> {
  const { owner } = call;
  const { url } = call.request;
  const { limit, fields = DEFAULT_FIELDS, ...filter } = parseListQuery(readQuery(url, LIST_PARAMETERS));
  // Also a list without a limit reads its first page before it is answered: a database that fails is told with a status.
  const page = await app.listPage(owner, filter, limit);
  if (limit === undefined && page.next !== undefined) {
    const start = encoder.encode(`[${writePlants(page.plants, fields)}`);
    const rest = app.listAll(owner, { ...filter, after: page.next });
    return json(call, 200, streamPages(call, start, rest, fields));
  }
  const body = `[${writePlants(page.plants, fields)}]`;
  const headers = page.next === undefined ? {} : linkTo(url, page.next);
  if (revision !== undefined) cache.set(owner, url, { revision, body, headers });
  return json(call, 200, body, headers);
}

/** `DELETE /plants/{id}` */
export async function deletePlant(app: App, call: Call): Promise<Response> {
  const { id: text = "" } = call.request.params as { id?: string };
  const id = parsePlantId(text);
  if (id === undefined) throw new AppError("invalid_id", idTextFault("id"));
  await app.deletePlant(call.owner, id);
  return new Response(null, {
    status: 204,
    headers: { ...call.headers, "X-Request-Id": call.requestId, "Cache-Control": "no-store" },
  });
}

function readIdempotencyKey(request: Request): string | undefined {
  const key = request.headers.get("idempotency-key");
  if (key === null) return undefined;
  if (isVisibleAscii(key, IDEMPOTENCY_KEY_MAX_LENGTH)) return key;
  const message = `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} visible ASCII characters, given once`;
  throw new AppError("invalid_parameter", message);
}

/** RFC 8288; relative, so that it holds behind any proxy. */
const linkTo = (url: string, after: PlantId) => ({
  Link: `</plants?${withParameter(url, "after", String(after))}>; rel="next"`,
});

/** Plants as JSON objects with these fields, separated by commas. */
function writePlants(plants: readonly NewPlant[], fields: readonly Field[]): string {
  const [hasId, hasName, hasTag] = [fields.includes("id"), fields.includes("name"), fields.includes("tag")];
  const shown = plants.map(({ id, name, tag }) => ({
    id: hasId ? toJsonNumber(id) : undefined,
    name: hasName ? name : undefined,
    tag: hasTag ? tag : undefined,
  }));
  return JSON.stringify(shown).slice(1, -1);
}

/**
 * One JSON array over all pages. A page is read when the client has room for it, so that memory stays flat. While it
 * waits for that it holds text, but no plants: hundreds for each slow reader would be work for every garbage collection.
 */
function streamPages(
  call: Call,
  start: Uint8Array<ArrayBuffer>,
  rest: AsyncGenerator<Page, void>,
  fields: readonly Field[],
): ReadableStream<Uint8Array> {
  let first: typeof start | undefined = start;
  let hasLeft = false;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(first as typeof start);
      first = undefined;
    },
    async pull(controller) {
      try {
        const page = (await rest.next()).value as Page;
        if (hasLeft) return;
        if (page.plants.length > 0) controller.enqueue(encoder.encode(`,${writePlants(page.plants, fields)}`));
        if (page.next !== undefined) return;
        controller.enqueue(encoder.encode("]"));
        controller.close();
      } catch (error) {
        // The status is long sent: a connection that breaks is the only way to say that this is not all.
        call.onBreak(error);
        controller.error(error);
      }
    },
    /** The client has left: what is being read for it meanwhile goes nowhere. */
    async cancel() {
      hasLeft = true;
      await rest.return();
    },
  });
}
