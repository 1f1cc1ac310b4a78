import { afterEach, describe, expect, it, mock, spyOn } from "bun:test";
import { connect } from "node:net";
import { NAME_MAX_LENGTH } from "../../src/domain/plant.ts";
import type { ResponseEvent } from "../../src/http/call.ts";
import { LoadShedder } from "../../src/http/load-shedding.ts";
import { track } from "../support/program.ts";
import { insertPlants, newOwner, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

afterEach(() => {
  mock.restore();
});

/** A load shedder with a clock that the test advances. */
function startShedder() {
  const clock = spyOn(performance, "now").mockReturnValue(0);
  let nowMs = 0;
  const shedder = new LoadShedder();
  /** Counts an authenticated request. Returns whether it is shed. */
  const add = () => {
    shedder.count(nowMs);
    return shedder.shouldShed(nowMs);
  };
  const isLong = () => shedder.longTickEnd(nowMs) !== undefined;
  const advance = (ms: number) => {
    nowMs += ms;
    clock.mockReturnValue(nowMs);
  };
  const endTick = () => new Promise((resolve) => setImmediate(resolve));
  return {
    ...{ shedder, add, isLong, advance, endTick },
    /** Runs a tick of this duration. Returns whether the tick is long at its last request, and whether that request is shed. */
    async run(ms: number, requests = 129) {
      for (let n = 1; n < requests; n++) add();
      advance(ms);
      const seen = { isShed: add(), isLong: isLong() };
      await endTick();
      return seen;
    },
  };
}

describe("LoadShedder", () => {
  const SHORT = { isLong: false, isShed: false };
  const LONG = { isLong: true, isShed: false };
  const SHEDDING = { isLong: true, isShed: true };

  it("never considers a tick with fewer than 20 requests long, however long it takes", () => {
    const { add, isLong, advance } = startShedder();
    for (let n = 0; n < 19; n++) {
      expect([add(), isLong()]).toEqual([false, false]);
      advance(1_000);
    }
  });

  it("considers a tick long after 15 ms, until it ends", async () => {
    const { shedder, add, isLong, advance } = startShedder();
    for (const requests of [1_000, 20]) {
      for (let n = 0; n < requests; n++) add();
      advance(15);
      expect(isLong()).toBe(false);
      advance(0.125);
      expect(isLong()).toBe(true);
      await shedder.longTickEnd(Number.POSITIVE_INFINITY);
      expect(isLong()).toBe(false);
    }
  });

  it("sheds requests of long ticks that begin within 50 ms after an overloaded one", async () => {
    const { run, advance } = startShedder();
    for (let round = 0; round < 2; round++) {
      expect(await run(15)).toEqual(SHORT);
      expect(await run(2_000)).toEqual(LONG);
      for (let n = 0; n < 5; n++) expect(await run(30)).toEqual(SHEDDING);
      advance(50.1);
    }
  });

  it("sheds requests after a single tick on time", async () => {
    const { run } = startShedder();
    for (const expected of [LONG, SHEDDING]) expect(await run(26)).toEqual(expected);
    expect(await run(15)).toEqual(SHORT);
    expect(await run(26)).toEqual(SHEDDING);
  });

  it("considers only ticks with more than 128 authenticated requests overloaded", async () => {
    const { shedder, run } = startShedder();
    for (let n = 0; n < 5; n++) expect(await run(2_000, 128)).toEqual(LONG);
    for (let n = 0; n < 5; n++) {
      for (let requests = 0; requests < 1_000; requests++) shedder.count(0);
      expect(await run(2_000, 128)).toEqual(LONG);
    }
    expect(await run(30, 129)).toEqual(LONG);
    for (let n = 0; n < 2; n++) expect(await run(30, 128)).toEqual(SHEDDING);
    expect(await run(30, 128)).toEqual(LONG);
  });

  it.each([
    [519, SHEDDING],
    [521, LONG],
  ])("with %d requests in 26 ms, a tick after an overloaded one is %p", async (requests, expected) => {
    const { run } = startShedder();
    await run(30);
    expect(await run(26, requests)).toEqual(expected);
  });

  it("ignores shed requests in the time per request, so that a tick does not stop shedding", async () => {
    const { run, add, advance } = startShedder();
    await run(30);
    for (let n = 0; n < 129; n++) add();
    advance(26);
    for (let n = 0; n < 5_000; n++) expect(add()).toBe(true);
  });
});

describe("long lists", () => {
  it("read one chunk per tick in total, and shorter chunks the more lists there are", async () => {
    const service = await startService();
    const owner = newOwner();
    const insert = (id: number) => service.storage.insertPlant(owner, { id: BigInt(id), name: "x" }, undefined);
    await Promise.all(Array.from({ length: 3_000 }, (_, id) => insert(id)));
    const headers = { Authorization: `Bearer ${await service.token({ owner })}` };
    let chunks = 0;
    const chunkLengths: number[] = [];
    const select = service.storage.selectPlants.bind(service.storage);
    spyOn(service.storage, "selectPlants").mockImplementation((...args) => {
      if (args[1].after !== undefined) chunks++;
      chunkLengths.push(args[1].limit - 1);
      return select(...args);
    });
    const lists = ["/plants", "/plants?limit=2500"].flatMap((path) =>
      Array.from({ length: 20 }, async () => (await fetch(service.url + path, { headers })).json()),
    );
    const chunksByTick: number[] = [];
    while (chunksByTick.reduce((sum, each) => sum + each, 0) < 180) {
      chunks = 0;
      await new Promise((resolve) => setImmediate(resolve));
      chunksByTick.push(chunks);
    }
    expect(Math.max(...chunksByTick)).toBe(1);
    expect([Math.max(...chunkLengths), Math.min(...chunkLengths)]).toEqual([500, 25]);
    const lengths = (await Promise.all(lists)).map((list) => (list as unknown[]).length);
    expect(lengths).toEqual([...Array(20).fill(3_000), ...Array(20).fill(2_500)]);
    await service.stop();
  });
});

describe("a long list with a stalled client", () => {
  it("keeps no plants in memory", async () => {
    const service = await startService();
    const owner = newOwner();
    const name = "x".repeat(NAME_MAX_LENGTH);
    await insertPlants(
      service,
      owner,
      Array.from({ length: 20_000 }, (_, id) => ({ id: BigInt(id), name })),
    );
    const plants: WeakRef<object>[] = [];
    // Not a mock: a mock keeps its return values alive.
    const select = service.storage.selectPlants.bind(service.storage);
    service.storage.selectPlants = async (...args) => {
      const selected = await select(...args);
      plants.push(...selected.map((plant) => new WeakRef(plant)));
      return selected;
    };
    const reader = connect(service.port, "127.0.0.1");
    reader.write(`GET /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await service.token({ owner })}\r\n\r\n`);
    reader.once("readable", () => reader.pause());
    let seen = 0;
    await until(async () => {
      const before = seen;
      await Bun.sleep(200);
      seen = plants.length;
      return seen > 0 && seen === before;
    });
    expect(plants.length).toBeLessThan(20_000);
    // The garbage collector scans the stack conservatively, so a single run may keep a plant by chance.
    await until(() => {
      Bun.gc(true);
      return plants.every((plant) => plant.deref() === undefined);
    });
    reader.destroy();
    await service.stop();
  });
});

describe("a server with late event-loop ticks", () => {
  const isShed = ({ error }: ResponseEvent) => error?.code === "unavailable";

  /** Starts a service whose clock makes every tick with more than 150 requests late, and 500 clients. */
  async function startSlowService(path: string, clientToken?: string) {
    const service = await startService();
    const token = await service.token();
    let nowMs = 0;
    spyOn(performance, "now").mockImplementation(() => {
      nowMs += 0.1;
      return nowMs;
    });
    const clients = startClients(service.url, 500, path, clientToken ?? token);
    return {
      service,
      token,
      /** Blocks the event loop for a moment, so that the requests of all clients arrive before its next tick. */
      untilResponded: (hasResponded: () => boolean) =>
        until(() => {
          Bun.sleepSync(20);
          return hasResponded();
        }),
      async stop() {
        clients.kill();
        await clients.exited;
        await service.stop();
      },
    };
  }

  it("sheds authenticated requests while many are pending", async () => {
    const { service, untilResponded, stop } = await startSlowService("/plants");
    await untilResponded(() => service.responses.some(isShed));
    await stop();
  });

  it.each(["/livez", "/nope", "/plants"])(
    "sheds no authenticated request because of a flood of %s without a valid token",
    async (path) => {
      const { service, token, untilResponded, stop } = await startSlowService(path, "plt_invalid");
      for (let n = 0; n < 50; n++) {
        const before = service.responses.length;
        const list = fetch(`${service.url}/plants`, { headers: { Authorization: `Bearer ${token}` } });
        await untilResponded(() => service.responses.length >= before + 500);
        expect((await list).status).toBe(200);
      }
      await stop();
    },
  );
});

describe("a server with 1,500 busy connections", () => {
  const CONNECTIONS = 1_500;

  it("sends at most one response per connection in a long tick", async () => {
    const service = await startService();
    // With this clock, every tick with more than 40 requests is long.
    let nowMs = 0;
    spyOn(performance, "now").mockImplementation(() => nowMs++);
    const clients = startClients(service.url, CONNECTIONS, "/livez");
    const responsesByTick: number[] = [];
    let sent = 0;
    while (service.responses.length < 40_000) {
      await new Promise((resolve) => setImmediate(resolve));
      responsesByTick.push(service.responses.length - sent);
      sent = service.responses.length;
    }
    clients.kill();
    await clients.exited;
    await service.stop();
    expect(Math.max(...responsesByTick)).toBeLessThan(2 * CONNECTIONS);
  }, 60_000);
});

/** Starts a client program with this many connections, each of which repeats a request. */
const startClients = (url: string, count: number, path: string, token = "none") =>
  track(Bun.spawn([process.execPath, "-e", CLIENT_PROGRAM, url, String(count), path, token], { stdout: "pipe" }));

/** Sends the next request on each connection when the previous response arrives. */
const CLIENT_PROGRAM = `
    const [url, count, path, token] = process.argv.slice(1);
    const request = \`GET \${path} HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer \${token}\\r\\n\\r\\n\`;
    for (let n = 0; n < Number(count); n++) {
      Bun.connect({
        hostname: "127.0.0.1",
        port: Number(new URL(url).port),
        socket: { open: (socket) => socket.write(request), data: (socket) => socket.write(request), error() {} },
      }).catch(() => {});
    }`;
