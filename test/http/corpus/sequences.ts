import {
  CREATED_ID,
  closes,
  create,
  createHead,
  EXISTING_ID,
  keepsOpen,
  PLANT,
  request,
  SMUGGLED,
} from "./exchange.ts";

const LIVE = request("GET", "/livez");
const DELETE = request("DELETE", "/plants/1");
const GARBAGE = "\x01\x02\x03\r\n\r\n";

/**
 * Requests with other bytes right after them. In each exchange, other bytes follow at most one request that gets a
 * response. pipelining.test.ts has longer sequences.
 */
export const pipelined = [
  ...keepsOpen([40401, 200], { "a request after one for an unknown path": request("GET", "/x") + LIVE }),
  ...keepsOpen([40500, 200], { "a request after a disallowed method": request("PUT", "/plants") + LIVE }),
  ...keepsOpen([40006, 200], { "a request after an invalid query": request("GET", "/plants?limit=0") + LIVE }),
  ...keepsOpen([40007, 200], { "a request after an invalid id": request("DELETE", "/plants/x") + LIVE }),
  ...keepsOpen([40004, 200], {
    "a request after a body of another content type": `${request("POST", "/plants", "Content-Length: 19")}${PLANT}${LIVE}`,
  }),
  ...keepsOpen([40008, 200], { "a request after an invalid header": create(PLANT, "Idempotency-Key: a b") + LIVE }),
  ...keepsOpen([40001, 200], { "a request after malformed JSON": create("{") + LIVE }),
  ...keepsOpen([40002, 200], { "a request after an invalid plant": create("{}") + LIVE }),
  ...closes([200, 400], {
    "garbage after a request": LIVE + GARBAGE,
    "a valid request after garbage": LIVE + GARBAGE + SMUGGLED,
    "an empty line between requests": `${LIVE}\r\n${DELETE}`,
    "a body without a length": `${request("GET", "/livez")}${PLANT}${DELETE}`,
  }),
  ...closes([400], { "a valid request after a malformed one": `GET /livez HTTP/1.1\r\n\r\n${DELETE}` }),
  ...closes([200], {
    "a request after one with Connection: close": request("GET", "/livez", "Connection: close") + DELETE,
  }),
  ...closes([], { "a valid request after an unknown method": request("FOO", "/livez") + DELETE }),

  // If bytes arrive before the response to a write, Bun closes the connection: the client does not learn the outcome.
  ...closes([], { "a request right after a create": create(PLANT) + LIVE }, { plants: [EXISTING_ID, CREATED_ID] }),
  ...closes([], { "a create right after a create": create(PLANT) + SMUGGLED }, { plants: [EXISTING_ID, CREATED_ID] }),
  ...closes([], { "a request right after a delete": DELETE + LIVE }, { plants: [] }),
  ...closes([400], { "garbage right after a create": create(PLANT) + GARBAGE }, { plants: [EXISTING_ID, CREATED_ID] }),
  ...closes(
    [400],
    { "an empty line right after a create": `${create(PLANT)}\r\n` },
    { plants: [EXISTING_ID, CREATED_ID] },
  ),
  ...closes([], {
    "a request right after a chunked create": `${createHead("Transfer-Encoding: chunked")}13\r\n${PLANT}\r\n0\r\n\r\n${LIVE}`,
  }),
];

/** Clients that half-close or reset the connection, or stop sending. */
export const disconnects = [
  ...closes(
    [],
    {
      "a half-close before the first byte": "",
      "a half-close in the start line": "DELETE /plan",
      "a half-close before the last line end": DELETE.slice(0, -2),
      "a half-close before the body": createHead("Content-Length: 19"),
      "a half-close in the body": createHead("Content-Length: 20") + PLANT,
    },
    { clientEnds: "half" },
  ),
  ...closes([200], { "a half-close after a request": LIVE }, { clientEnds: "half" }),
  ...closes(
    [40007],
    { "a half-close after an invalid request": request("DELETE", "/plants/x") },
    { clientEnds: "half" },
  ),
  // Bun also closes the connection if the client half-closes it before the response to a write.
  ...closes(
    [],
    { "a half-close after a create": create(PLANT) },
    { clientEnds: "half", plants: [EXISTING_ID, CREATED_ID], alternativeResponses: [200] },
  ),
  ...closes(
    [],
    { "a half-close after a delete": DELETE },
    { clientEnds: "half", plants: [], alternativeResponses: [204] },
  ),

  ...closes(
    [],
    {
      "a reset before the first byte": "",
      "a reset in the start line": "DELETE /plan",
      "a reset before the last line end": DELETE.slice(0, -2),
      "a reset before the body": createHead("Content-Length: 19"),
      "a reset in the body": createHead("Content-Length: 20") + PLANT,
      "a reset in a chunk": `${createHead("Transfer-Encoding: chunked")}14\r\n${PLANT}`,
      "a reset after a chunk": `${createHead("Transfer-Encoding: chunked")}13\r\n${PLANT}\r\n`,
    },
    { clientEnds: "reset" },
  ),

  // The server waits for the rest and closes the connection at the idle timeout.
  ...closes([], {
    "a body that is never sent": createHead("Content-Length: 19"),
    "a body that is sent in part": createHead("Content-Length: 20") + PLANT,
    "a chunked body without the last chunk": `${createHead("Transfer-Encoding: chunked")}13\r\n${PLANT}\r\n`,
    "an incomplete last chunk": `${createHead("Transfer-Encoding: chunked")}13\r\n${PLANT}\r\n0`,
  }),
  ...closes([100], {
    "100-continue with a body that is never sent": createHead("Expect: 100-continue", "Content-Length: 19"),
  }),
  ...closes([40401], { "a body that is never sent to an unknown path": request("POST", "/x", "Content-Length: 19") }),
];
