import { afterAll, afterEach, beforeAll, describe, expect, it, mock, spyOn } from "bun:test";
import { RawConnection } from "../support/raw-connection.ts";
import { type Service, startService } from "../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterEach(() => mock.restore());
afterAll(() => service.stop());

const BODY = '{"id":1,"name":"x"}'.padEnd(65_536);
const CHUNKS = `${[...BODY].map((byte) => `1\r\n${byte}\r\n`).join("")}0\r\n\r\n`;

describe("a body in chunks of 1 byte", () => {
  it("is read in few large parts", async () => {
    const write = spyOn(Object.getPrototypeOf(new Bun.ArrayBufferSink()), "write");
    const connection = await RawConnection.open(service.url);
    connection.send(
      `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await service.token()}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`,
    );
    expect((await connection.readResponse())?.text).toBe('{"name":"x"}');
    expect(write.mock.calls.length).toBeWithin(1, BODY.length / 16);
    connection.close();
  });
});
