import type { PlantId } from "../domain/plant.ts";
import { type Call, jsonResponse } from "./call.ts";
import type { HeaderFields } from "./common-headers.ts";
import type { ListReader } from "./list-reader.ts";
import { withParameter } from "./query.ts";
import type { Reservation, SendBudget } from "./send-budget.ts";

/** Size at which a page with a limit ends early. Such pages are buffered, because `Link` precedes the body. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024;

/** Sends a list that is complete in memory: at once if it is small, otherwise as the client reads it. */
export function sendList(call: Call, budget: SendBudget, body: string, headers: HeaderFields): Response {
  const length = Buffer.byteLength(body);
  if (budget.isSmall(length)) return jsonResponse(call, 200, body, headers);
  return sendParts(call, budget.reserve(call.owner, length), [Buffer.from(body)], headers);
}

/** Streams a list without a limit. `first` is its first chunk. */
export function streamList(call: Call, budget: SendBudget, reader: ListReader, first: string): Response {
  const unsent = [Buffer.from(`[${first}`)];
  const reservation = budget.reserve(call.owner, (unsent[0] as Buffer).length);
  return jsonResponse(
    call,
    200,
    stream(call, reservation, async () => {
      // The stream keeps no chunk that it has returned: thousands of stalled clients would hold one each.
      const firstChunk = unsent.pop();
      if (firstChunk !== undefined || reader.isComplete) return firstChunk;
      const more = await readMore(reader);
      const chunk = Buffer.from(reader.isComplete ? `${more}]` : more);
      reservation.resize(chunk.length);
      return chunk;
    }),
  );
}

/** Reads the rest of a page with a limit, then sends it as the client reads it. `first` is its first chunk. */
export async function sendPage(call: Call, budget: SendBudget, reader: ListReader, first: string): Promise<Response> {
  const parts = [Buffer.from(`[${first}`)];
  let length = (parts[0] as Buffer).length;
  // Reserves before reading the rest, so that a page rejected here causes no further reads.
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

/** Reads a later chunk, with a leading comma. Returns `""` if the remaining plants were deleted meanwhile. */
async function readMore(reader: ListReader): Promise<string> {
  const text = await reader.read();
  return text === "" ? "" : `,${text}`;
}

/** Returns the `Link` header of the next page (RFC 8288), if any. The URL is relative, so it works behind proxies. */
export const linkTo = (url: string, after: PlantId | undefined): Record<string, string> =>
  after === undefined ? {} : { Link: `</plants?${withParameter(url, "after", String(after))}>; rel="next"` };

/** Sends parts one by one and shrinks the reservation by each part sent. */
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
 * Creates a body that calls `next` when the client is ready for another part. `next` resolves with `undefined` at the
 * end. The token is checked again before each part, so that a list is aborted when its token is revoked or expires.
 */
function stream(
  call: Call,
  reservation: Reservation,
  next: () => Promise<Uint8Array | undefined>,
): ReadableStream<Uint8Array> {
  let isCancelled = false;
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      try {
        await call.recheck();
        const part = await next();
        if (isCancelled) return;
        if (part !== undefined) return controller.enqueue(part);
        reservation.release();
        controller.close();
      } catch (error) {
        reservation.release();
        // The status is already sent, so closing the connection is the only way to signal an incomplete list.
        call.onAbort(error);
        controller.error(error);
      }
    },
    cancel() {
      isCancelled = true;
      reservation.release();
    },
  };
  // With a higher mark, the runtime would buffer a part before the client is ready for it.
  return new ReadableStream(source, { highWaterMark: 0 });
}
