import type { PlantId } from "../domain/plant.ts";
import { type Call, jsonResponse } from "./call.ts";
import type { HeaderFields } from "./common-headers.ts";
import type { ListReader } from "./list-reader.ts";
import { withParameter } from "./query.ts";
import type { Reservation, SendBudget } from "./send-budget.ts";

/** A page with a limit is in memory as a whole, because its `Link` header precedes its body, and ends early at this size. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024;

/** Sends a list that is in memory as a whole: at once when it is small, else as its client reads it. */
export function sendList(call: Call, budget: SendBudget, body: string, headers: HeaderFields): Response {
  const length = Buffer.byteLength(body);
  if (budget.isSmall(length)) return jsonResponse(call, 200, body, headers);
  return sendParts(call, budget.reserve(call.owner, length), [Buffer.from(body)], headers);
}

/** Streams a list without a limit, of which the first chunk was read. */
export function streamList(call: Call, budget: SendBudget, reader: ListReader, first: string): Response {
  let chunk = Buffer.from(`[${first}`);
  const reservation = budget.reserve(call.owner, chunk.length);
  let isFirst = true;
  return jsonResponse(
    call,
    200,
    stream(call, reservation, async () => {
      if (isFirst) {
        isFirst = false;
        return chunk;
      }
      if (reader.isComplete) return undefined;
      const more = await readMore(reader);
      chunk = Buffer.from(reader.isComplete ? `${more}]` : more);
      reservation.resize(chunk.length);
      return chunk;
    }),
  );
}

/** Reads a page with a limit to its end, of which the first chunk was read, and sends it as its client reads it. */
export async function sendPage(call: Call, budget: SendBudget, reader: ListReader, first: string): Promise<Response> {
  const parts = [Buffer.from(`[${first}`)];
  let length = (parts[0] as Buffer).length;
  // Reserved before the rest is read: a page that is refused later has read it in vain.
  const expected = Math.min(MAX_PAGE_BYTES, length * (1 + reader.remaining / reader.count));
  const reservation = budget.reserve(call.owner, Math.ceil(expected));
  try {
    while (!reader.isComplete && length < MAX_PAGE_BYTES && !call.request.signal.aborted) {
      const part = Buffer.from(await readMore(reader));
      length += part.length;
      if (length > expected) reservation.grow(part.length);
      parts.push(part);
    }
    parts.push(Buffer.from("]"));
    return sendParts(call, reservation, parts, linkTo(call.request.url, reader.next));
  } catch (error) {
    reservation.release();
    throw error;
  }
}

/** The next chunk behind the others. It is empty when what remained was deleted meanwhile. */
async function readMore(reader: ListReader): Promise<string> {
  const text = await reader.read();
  return text === "" ? "" : `,${text}`;
}

/** The header that leads to the next page (RFC 8288), relative so that it holds behind any proxy; none without one. */
export const linkTo = (url: string, after: PlantId | undefined): Record<string, string> =>
  after === undefined ? {} : { Link: `</plants?${withParameter(url, "after", String(after))}>; rel="next"` };

/** Sends parts in memory one by one; what was sent leaves the reservation. */
function sendParts(call: Call, reservation: Reservation, parts: Buffer[], headers: HeaderFields): Response {
  let length = parts.reduce((sum, part) => sum + part.length, 0);
  let sent = 0;
  const body = stream(call, reservation, async () => {
    const part = parts.shift();
    length -= sent;
    sent = part?.length ?? 0;
    reservation.resize(length);
    return part;
  });
  return jsonResponse(call, 200, body, headers);
}

/**
 * A body that asks for its next part when the client has room for it, `undefined` at the end. Before each part the token
 * is checked again, so that a list ends when its token is revoked or expires.
 */
function stream(
  call: Call,
  reservation: Reservation,
  next: () => Promise<Uint8Array | undefined>,
): ReadableStream<Uint8Array> {
  let hasLeft = false;
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      try {
        await call.recheck();
        const part = await next();
        if (hasLeft) return;
        if (part !== undefined) return controller.enqueue(part);
        reservation.release();
        controller.close();
      } catch (error) {
        reservation.release();
        // The status was sent: breaking the connection is the only way to say that the list is incomplete.
        call.onAbort(error);
        controller.error(error);
      }
    },
    cancel() {
      hasLeft = true;
      reservation.release();
    },
  };
  // The runtime would otherwise ask for a part ahead of the client.
  return new ReadableStream(source, { highWaterMark: 0 });
}
