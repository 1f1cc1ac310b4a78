import { afterEach, describe, expect, it, mock, spyOn } from "bun:test";
import { Turn } from "../../src/http/turn.ts";
import { track } from "../support/program.ts";
import { newOwner, startService } from "../support/service.ts";

afterEach(() => {
  mock.restore();
});

/** A turn whose clock the test moves. */
function startTurn() {
  const clock = spyOn(performance, "now").mockReturnValue(0);
  let nowMs = 0;
  const turn = new Turn();
  return {
    turn,
    isLate: () => turn.isLate(nowMs),
    isHopeless: () => turn.isHopeless(nowMs),
    count(requests: number) {
      for (let n = 0; n < requests; n++) turn.count(nowMs);
    },
    pass(ms: number) {
      nowMs += ms;
      clock.mockReturnValue(nowMs);
    },
  };
}

describe("a turn of the event loop", () => {
  it("is never late for a few requests, however long they take", () => {
    const { isLate, isHopeless, count, pass } = startTurn();
    for (let n = 0; n < 99; n++) {
      count(1);
      pass(1_000);
      expect([isLate(), isHopeless()]).toEqual([false, false]);
    }
  });

  it("is late when many take long, until it is over", async () => {
    const { turn, isLate, count, pass } = startTurn();
    for (const requests of [1_000, 100]) {
      count(requests);
      pass(25);
      expect(isLate()).toBe(false);
      pass(0.1);
      expect(isLate()).toBe(true);
      await turn.end;
      expect(isLate()).toBe(false);
    }
  });

  it("is hopeless only when all turns of a tenth of a second were late", async () => {
    const { turn, isLate, isHopeless, count, pass } = startTurn();
    const take = async (ms: number) => {
      count(100);
      pass(ms);
      const seen = [isLate(), isHopeless()];
      await turn.end;
      return seen;
    };
    const [onTime, late, hopeless] = [
      [false, false],
      [true, false],
      [true, true],
    ];
    for (let round = 0; round < 2; round++) {
      expect(await take(20)).toEqual(onTime);
      for (let n = 0; n < 2; n++) expect(await take(50)).toEqual(late);
      for (let n = 0; n < 5; n++) expect(await take(50)).toEqual(hopeless);
    }
    expect(await take(20)).toEqual(onTime);
    expect(await take(2_000)).toEqual(late);
  });

  it.each([
    [499, true],
    [500, false],
  ])("is hopeless only when it had answered few before it was late: %d, and %p", async (requests, expected) => {
    const { turn, isLate, isHopeless, count, pass } = startTurn();
    for (let n = 0; n < 3; n++) {
      count(100);
      pass(100);
      expect(isLate()).toBe(true);
      await turn.end;
    }
    count(requests);
    pass(26);
    expect(isHopeless()).toBe(expected);
    count(5_000);
    expect(isHopeless()).toBe(expected);
    await turn.end;
    expect(isHopeless()).toBe(false);
  });
});

describe("long lists", () => {
  it("take turns: one of them goes on in each, however many there are", async () => {
    const service = await startService();
    const owner = newOwner();
    const insert = (id: number) => service.storage.insertPlant(owner, { id: BigInt(id), name: "x" }, undefined);
    await Promise.all(Array.from({ length: 3_000 }, (_, id) => insert(id)));
    const headers = { Authorization: `Bearer ${await service.token({ owner })}` };
    let goneOn = 0;
    const select = service.storage.selectPlants.bind(service.storage);
    spyOn(service.storage, "selectPlants").mockImplementation((...args) => {
      if (args[1].after !== undefined) goneOn++;
      return select(...args);
    });
    const lists = ["/plants", "/plants?limit=2500"].flatMap((path) =>
      Array.from({ length: 20 }, async () => (await fetch(service.url + path, { headers })).json()),
    );
    const goneOnByTurn: number[] = [];
    while (goneOnByTurn.reduce((sum, each) => sum + each, 0) < 180) {
      goneOn = 0;
      await new Promise((resolve) => setImmediate(resolve));
      goneOnByTurn.push(goneOn);
    }
    expect(Math.max(...goneOnByTurn)).toBe(1);
    const lengths = (await Promise.all(lists)).map((list) => (list as unknown[]).length);
    expect(lengths).toEqual([...Array(20).fill(3_000), ...Array(20).fill(2_500)]);
    await service.stop();
  });
});

describe("a server that many connections keep busy", () => {
  const CONNECTIONS = 1_500;

  it("answers each of them once in a late turn, and then has time for all else", async () => {
    const service = await startService();
    // With this clock every turn of more than a hundred requests is late.
    let nowMs = 0;
    spyOn(performance, "now").mockImplementation(() => nowMs++);
    const clients = track(
      Bun.spawn([process.execPath, "-e", HAMMER, service.url, String(CONNECTIONS)], { stdout: "pipe" }),
    );
    const answersByTurn: number[] = [];
    let answered = 0;
    while (service.answers.length < 40_000) {
      await new Promise((resolve) => setImmediate(resolve));
      answersByTurn.push(service.answers.length - answered);
      answered = service.answers.length;
    }
    clients.kill();
    await clients.exited;
    await service.stop();
    expect(Math.max(...answersByTurn)).toBeLessThan(2 * CONNECTIONS);
  }, 60_000);

  /** Sends the next request on each connection as soon as the last one is answered. */
  const HAMMER = `
    const [url, count] = process.argv.slice(1);
    const request = "GET /livez HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n";
    for (let n = 0; n < Number(count); n++) {
      Bun.connect({
        hostname: "127.0.0.1",
        port: Number(new URL(url).port),
        socket: { open: (socket) => socket.write(request), data: (socket) => socket.write(request), error() {} },
      }).catch(() => {});
    }`;
});
