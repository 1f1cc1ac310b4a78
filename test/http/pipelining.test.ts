import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, mock, spyOn } from "bun:test";
import { RawConnection } from "../support/raw-connection.ts";
import { type Service, startService } from "../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

// The clock stands still, so that no event-loop tick is long: responses of a long tick wait for the next one.
beforeEach(() => {
  spyOn(performance, "now").mockReturnValue(0);
});
afterEach(() => {
  mock.restore();
});

describe("requests that arrive together on one connection", () => {
  const LIVE = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
  const UNAUTHORIZED = "GET /plants HTTP/1.1\r\nHost: x\r\n\r\n";
  const UNKNOWN = "GET /unknown HTTP/1.1\r\nHost: x\r\n\r\n";

  it.each([
    ["three", [LIVE, UNAUTHORIZED, UNKNOWN], [200, 40_100, 40_401]],
    ["a hundred", Array<string>(100).fill(LIVE), Array<number>(100).fill(200)],
  ])("get one response each, in order: %s", async (_, requests, outcomes) => {
    const connection = await RawConnection.open(service.url);
    connection.send(requests.join(""));
    for (const outcome of outcomes) expect((await connection.readResponse())?.outcome).toBe(outcome);
    connection.send(LIVE);
    expect((await connection.readResponse())?.outcome).toBe(200);
    connection.close();
  });
});
