import { describe, expect, it } from "bun:test";
import type { ResponseEvent } from "../../src/http/call.ts";
import type { Log } from "../../src/observability/log.ts";
import { RequestLog } from "../../src/observability/request-log.ts";

describe("RequestLog", () => {
  it("logs 500 failures per second and the number suppressed", async () => {
    const lines: object[] = [];
    const suppressed = Promise.withResolvers<[object, string]>();
    const log = {
      warn(fields: object, message: string) {
        if (message === "request failed") lines.push(fields);
        else suppressed.resolve([fields, message]);
      },
    };
    const requestLog = new RequestLog(log as unknown as Log["requests"], "failures");
    const call = { requestId: "mine", owner: "", request: { method: "GET", url: "http://x/plants" } };
    const error = { code: "plant_not_found", message: "not found" };
    const failure = { call, operation: "none", status: 404, durationMs: 1, error, isAborted: false };
    const record = () => requestLog.record(failure as unknown as ResponseEvent, undefined);
    for (let n = 0; n < 507; n++) record();
    expect(lines).toHaveLength(500);
    expect(await suppressed.promise).toEqual([{ count: 7 }, "failure log lines suppressed"]);
    record();
    expect(lines).toHaveLength(501);
  });
});
