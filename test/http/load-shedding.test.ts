import { afterEach, describe, expect, it, mock, spyOn } from "bun:test";
import { connect } from "node:net";
import { NAME_MAX_LENGTH } from "../../src/domain/plant.ts";
import type { ResponseEvent } from "../../src/http/active-call.ts";
import { LoadShedder } from "../../src/http/load-shedding.ts";
import { track } from "../support/program.ts";
import { newOwner, plantAll, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

afterEach(() => {
  mock.restore();
});

/** A load shedder with a clock that the test advances. */
function startShedder() {
  const clock = spyOn(performance, "now").mockReturnValue(0);
  let nowMs = 0;
  const shedder = new LoadShedder();
  return {
    shedder,
    isTickLate: () => shedder.isTickLate(nowMs),
    shouldShed: () => shedder.shouldShed(nowMs),
    count(requests: number) {
      for (let n = 0; n < requests; n++) {
        shedder.count(nowMs);
        shedder.countAuthenticated();
      }
    },
    advance(ms: number) {
      nowMs += ms;
      clock.mockReturnValue(nowMs);
    },
  };
}

describe("LoadShedder", () => {
  it("never reports a tick with fewer than 20 requests as late, however long it takes", () => {
    const { isTickLate, shouldShed, count, advance } = startShedder();
    for (let n = 0; n < 19; n++) {
      count(1);
      advance(1_000);
      expect([isTickLate(), shouldShed()]).toEqual([false, false]);
    }
  });

  it("reports a tick as late after 15 ms, until it ends", async () => {
    const { shedder, isTickLate, count, advance } = startShedder();
    for (const requests of [1_000, 20]) {
      count(requests);
      advance(15);
      expect(isTickLate()).toBe(false);
      advance(0.125);
      expect(isTickLate()).toBe(true);
      await shedder.tickEnd;
      expect(isTickLate()).toBe(false);
    }
  });

  describe("shouldShed", () => {
    const [ON_TIME, LATE, OVERLOADED] = [
      [false, false],
      [true, false],
      [true, true],
    ];

    /** `take` runs a tick of the given duration and returns `[isTickLate, shouldShed]` at its end. */
    function startTicks() {
      const { shedder, isTickLate, shouldShed, count, advance } = startShedder();
      const take = async (ms: number, requests = 129) => {
        count(requests);
        advance(ms);
        const seen = [isTickLate(), shouldShed()];
        await shedder.tickEnd;
        return seen;
      };
      return { take, advance };
    }

    it("is true once ticks have been late for more than 50 ms, and restarts the grace period after 50 ms without one", async () => {
      const { take, advance } = startTicks();
      for (let round = 0; round < 2; round++) {
        expect(await take(15)).toEqual(ON_TIME);
        expect(await take(2_000)).toEqual(LATE);
        for (let n = 0; n < 5; n++) expect(await take(30)).toEqual(OVERLOADED);
        advance(50.1);
      }
    });

    it("stays true after a single tick on time", async () => {
      const { take } = startTicks();
      for (let n = 0; n < 2; n++) expect(await take(26)).toEqual(n === 0 ? LATE : OVERLOADED);
      expect(await take(15)).toEqual(ON_TIME);
      expect(await take(26)).toEqual(OVERLOADED);
    });

    it("is true only when this tick or the last one has more than 128 requests", async () => {
      const { take } = startTicks();
      for (let n = 0; n < 5; n++) expect(await take(2_000, 128)).toEqual(LATE);
      expect(await take(30, 129)).toEqual(OVERLOADED);
      expect(await take(30, 128)).toEqual(OVERLOADED);
      expect(await take(30, 128)).toEqual(LATE);
    });

    it("is false when the last late tick ended long ago", async () => {
      const { take, advance } = startTicks();
      expect(await take(30)).toEqual(LATE);
      advance(10_000);
      expect(await take(30)).toEqual(LATE);
    });
  });

  it.each([
    [299, true],
    [300, false],
  ])("after %d requests before the tick is late, shouldShed returns %p", async (requests, expected) => {
    const { shedder, isTickLate, shouldShed, count, advance } = startShedder();
    for (let n = 0; n < 3; n++) {
      count(129);
      advance(50);
      expect(isTickLate()).toBe(true);
      await shedder.tickEnd;
    }
    count(requests);
    advance(26);
    expect(shouldShed()).toBe(expected);
    count(5_000);
    expect(shouldShed()).toBe(expected);
    await shedder.tickEnd;
    expect(shouldShed()).toBe(false);
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
    await plantAll(
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

describe("a server whose ticks are late", () => {
  const isShed = ({ error }: ResponseEvent) => error?.code === "unavailable";

  /** A service whose clock makes every tick with more than 30 requests late, and clients that fill its ticks. */
  async function startSlowService(path: string, clientToken?: string) {
    const service = await startService();
    const token = await service.token();
    let nowMs = 0;
    spyOn(performance, "now").mockImplementation(() => {
      nowMs += 0.5;
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

  it("sends at most one response per connection in a late tick", async () => {
    const service = await startService();
    // With this clock, every tick with more than 40 requests is late.
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

/** Starts a program with so many connections, which repeat a request. */
const startClients = (url: string, count: number, path: string, token = "none") =>
  track(Bun.spawn([process.execPath, "-e", HAMMER, url, String(count), path, token], { stdout: "pipe" }));

/** A client program: sends the next request on each connection as soon as the last response arrives. */
const HAMMER = `
    const [url, count, path, token] = process.argv.slice(1);
    const request = \`GET \${path} HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer \${token}\\r\\n\\r\\n\`;
    for (let n = 0; n < Number(count); n++) {
      Bun.connect({
        hostname: "127.0.0.1",
        port: Number(new URL(url).port),
        socket: { open: (socket) => socket.write(request), data: (socket) => socket.write(request), error() {} },
      }).catch(() => {});
    }`;
