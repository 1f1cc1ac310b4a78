import type { PlantId } from "../domain/plant.ts";
import type { Call } from "./call.ts";
import type { Chunk } from "./list-reader.ts";
import { withParameter } from "./query.ts";
import { type HeaderFields, JSON_HEADERS, respond } from "./response.ts";
import type { Reservation, SendBudget } from "./send-budget.ts";

/** Size at which a page with a limit ends early. Such pages are buffered, because `Link` precedes the body. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024;

/** Sends a list that is complete in memory: at once if it is small, otherwise as the client reads it. */
export function sendList(call: Call, budget: SendBudget, body: string, headers: HeaderFields): Response {
  const length = Buffer.byteLength(body);
  if (budget.isSmall(length)) return respond(call, 200, body, headers);
  return sendParts(call, budget.reserve(call.owner, length), [Buffer.from(body)], headers);
}

/** Streams a list without a limit: its first chunk, then the rest as the client reads it. */
export function streamList(call: Call, budget: SendBudget, first: Chunk, rest: AsyncIterator<Chunk>): Response {
  const part = Buffer.from(`[${first.json}`);
  return sendParts(call, budget.reserve(call.owner, part.length), [part], JSON_HEADERS, rest);
}

/** Reads the rest of a page with a limit, then sends it as the client reads it. `first` is its first chunk. */
export async function sendPage(
  call: Call,
  budget: SendBudget,
  limit: number,
  first: Chunk,
  rest: AsyncIterable<Chunk>,
): Promise<Response> {
  const parts = [Buffer.from(`[${first.json}`)];
  let length = lengthOf(parts);
  let last = first;
  // Reserves before reading the rest, so that a page rejected here causes no further reads.
  const expected = Math.min(MAX_PAGE_BYTES, Math.ceil((length * limit) / first.count));
  const reservation = budget.reserve(call.owner, expected);
  try {
    for await (const chunk of rest) {
      const part = toPart(chunk);
      length += part.length;
      if (length > expected) reservation.grow(part.length);
      parts.push(part);
      last = chunk;
      if (length >= MAX_PAGE_BYTES || call.request.signal.aborted) break;
    }
    if (!last.isLast) parts.push(Buffer.from("]"));
    return sendParts(call, reservation, parts, pageHeaders(call.request.url, last.next));
  } catch (error) {
    reservation.resize(0);
    throw error;
  }
}

/** Returns the headers of a page, with a `Link` to the next one (RFC 8288). The URL is relative, so it works behind proxies. */
export const pageHeaders = (url: string, after: PlantId | undefined): HeaderFields =>
  after === undefined
    ? JSON_HEADERS
    : { ...JSON_HEADERS, Link: `</plants?${withParameter(url, "after", String(after))}>; rel="next"` };

/** Converts a chunk other than the first. It has no plants if all remaining plants were deleted meanwhile. */
const toPart = ({ json, isLast }: Chunk) => Buffer.from(`${json && ","}${json}${isLast ? "]" : ""}`);

const lengthOf = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0);

/** Sends parts one by one as the client reads them, then the chunks of `rest`. The reservation covers the parts in memory. */
function sendParts(
  call: Call,
  reservation: Reservation,
  parts: Buffer<ArrayBuffer>[],
  headers: HeaderFields,
  rest?: AsyncIterator<Chunk>,
): Response {
  let isCancelled = false;
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      try {
        // The token may have been revoked or expired since the previous part.
        await call.recheck();
        const next = parts.length === 0 ? await rest?.next() : undefined;
        if (next?.value !== undefined) parts.push(toPart(next.value));
        if (isCancelled) return;
        reservation.resize(lengthOf(parts));
        // Removed, because a part that is kept would stay in memory for each of thousands of stalled clients.
        const part = parts.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(part);
      } catch (error) {
        reservation.resize(0);
        // The status is already sent, so closing the connection is the only way to signal an incomplete list.
        call.reportAbort(error);
        controller.error(error);
      }
    },
    cancel() {
      isCancelled = true;
      reservation.resize(0);
    },
  };
  // With a higher high-water mark, the runtime would buffer a part before the client is ready for it.
  return respond(call, 200, new ReadableStream(source, { highWaterMark: 0 }), headers);
}
