import { afterEach, describe, expect, it, mock, spyOn } from "bun:test";
import { Turn } from "../../src/http/turn.ts";
import { track } from "../support/program.ts";
import { startService } from "../support/service.ts";

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
  it("is never late for a few requests, however long they take", async () => {
    const { isLate, isHopeless, count, pass } = startTurn();
    for (let n = 0; n < 63; n++) {
      count(1);
      pass(1_000);
      expect([isLate(), isHopeless()]).toEqual([false, false]);
    }
  });

  it("is late when many take long, until it is over", async () => {
    const { turn, isLate, count, pass } = startTurn();
    count(1_000);
    pass(50);
    expect(isLate()).toBe(false);
    pass(0.1);
    expect(isLate()).toBe(true);
    await turn.end;
    expect(isLate()).toBe(false);
    count(64);
    pass(50.1);
    expect(isLate()).toBe(true);
    await turn.end;
  });

  it("is hopeless only when all turns of half a second were late", async () => {
    const { turn, isLate, isHopeless, count, pass } = startTurn();
    const take = async (ms: number) => {
      count(64);
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
      for (let n = 0; n < 5; n++) expect(await take(100)).toEqual(late);
      for (let n = 0; n < 5; n++) expect(await take(100)).toEqual(hopeless);
    }
    expect(await take(20)).toEqual(onTime);
    expect(await take(2_000)).toEqual(late);
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
