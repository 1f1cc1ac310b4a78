import { answered, ask, create, createHead, cut, KEPT, MADE, PLANT, SMUGGLED } from "./exchange.ts";

const LIVE = ask("GET", "/livez");
const DELETE = ask("DELETE", "/plants/1");
const GARBAGE = "\x01\x02\x03\r\n\r\n";

/**
 * Requests that are followed at once by other bytes. At most one request of each has a response that other bytes
 * follow: see pipelining.test.ts for more.
 */
export const pipelined = [
  ...answered([40401, 200], { "a request after one for an unknown path": ask("GET", "/x") + LIVE }),
  ...answered([40500, 200], { "a request after a wrong method": ask("PUT", "/plants") + LIVE }),
  ...answered([40006, 200], { "a request after a bad query": ask("GET", "/plants?limit=0") + LIVE }),
  ...answered([40007, 200], { "a request after a bad id": ask("DELETE", "/plants/x") + LIVE }),
  ...answered([40004, 200], {
    "a request after a body of another type": `${ask("POST", "/plants", "Content-Length: 19")}${PLANT}${LIVE}`,
  }),
  ...answered([40008, 200], { "a request after a bad header": create(PLANT, "Idempotency-Key: a b") + LIVE }),
  ...answered([40001, 200], { "a request after malformed JSON": create("{") + LIVE }),
  ...answered([40002, 200], { "a request after an invalid plant": create("{}") + LIVE }),
  ...cut([200, 400], {
    "garbage after a request": LIVE + GARBAGE,
    "a good request after garbage": LIVE + GARBAGE + SMUGGLED,
    "a line end between requests": `${LIVE}\r\n${DELETE}`,
    "a body that was not told": `${ask("GET", "/livez")}${PLANT}${DELETE}`,
  }),
  ...cut([400], { "a good request after a bad one": `GET /livez HTTP/1.1\r\n\r\n${DELETE}` }),
  ...cut([200], { "a request after one that asks to close": ask("GET", "/livez", "Connection: close") + DELETE }),
  ...cut([], { "a good request after an unknown method": ask("FOO", "/livez") + DELETE }),

  // A request that follows a write before that is answered: the runtime hangs up, and the outcome is unknown.
  ...cut([], { "a request at once after a create": create(PLANT) + LIVE }, { plants: [KEPT, MADE] }),
  ...cut([], { "a create at once after a create": create(PLANT) + SMUGGLED }, { plants: [KEPT, MADE] }),
  ...cut([], { "a request at once after a delete": DELETE + LIVE }, { plants: [] }),
  ...cut([400], { "garbage at once after a create": create(PLANT) + GARBAGE }, { plants: [KEPT, MADE] }),
  ...cut([400], { "a line end at once after a create": `${create(PLANT)}\r\n` }, { plants: [KEPT, MADE] }),
  ...cut([], {
    "a request at once after a create in chunks": `${createHead("Transfer-Encoding: chunked")}13\r\n${PLANT}\r\n0\r\n\r\n${LIVE}`,
  }),
];

/** Clients that close or reset the connection, or stop sending. */
export const endings = [
  ...cut(
    [],
    {
      "an end before anything": "",
      "an end in the start line": "DELETE /plan",
      "an end before the last line end": DELETE.slice(0, -2),
      "an end before the body": createHead("Content-Length: 19"),
      "an end in the body": createHead("Content-Length: 20") + PLANT,
    },
    { clientEnds: "half" },
  ),
  ...cut([200], { "an end after a request": LIVE }, { clientEnds: "half" }),
  ...cut([40007], { "an end after a bad request": ask("DELETE", "/plants/x") }, { clientEnds: "half" }),
  // As with a request that follows: the runtime hangs up on whoever says that no more will come.
  ...cut(
    [],
    { "an end after a create": create(PLANT) },
    { clientEnds: "half", plants: [KEPT, MADE], orAnswers: [200] },
  ),
  ...cut([], { "an end after a delete": DELETE }, { clientEnds: "half", plants: [], orAnswers: [204] }),

  ...cut(
    [],
    {
      "a break before anything": "",
      "a break in the start line": "DELETE /plan",
      "a break before the last line end": DELETE.slice(0, -2),
      "a break before the body": createHead("Content-Length: 19"),
      "a break in the body": createHead("Content-Length: 20") + PLANT,
      "a break in a chunk": `${createHead("Transfer-Encoding: chunked")}14\r\n${PLANT}`,
      "a break after a chunk": `${createHead("Transfer-Encoding: chunked")}13\r\n${PLANT}\r\n`,
    },
    { clientEnds: "reset" },
  ),

  // The server waits for more, and hangs up at the idle timeout.
  ...cut([], {
    "a body that never comes": createHead("Content-Length: 19"),
    "a body that stops": createHead("Content-Length: 20") + PLANT,
    "chunks that stop": `${createHead("Transfer-Encoding: chunked")}13\r\n${PLANT}\r\n`,
    "a last chunk that stops": `${createHead("Transfer-Encoding: chunked")}13\r\n${PLANT}\r\n0`,
  }),
  ...cut([100], { "100-continue, and no body": createHead("Expect: 100-continue", "Content-Length: 19") }),
  ...cut([40401], { "a body that never comes to an unknown path": ask("POST", "/x", "Content-Length: 19") }),
];
