import { afterEach, beforeEach, describe, expect, it } from "bun:test";
import type { ResponseEvent } from "../../src/http/call.ts";
import type { Log } from "../../src/observability/log.ts";
import { Tracing } from "../../src/observability/tracing.ts";
import { useServerProcesses } from "../support/server-processes.ts";
import { temporaryFolder } from "../support/service.ts";
import { until } from "../support/until.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const CALLER_ID = "b7ad6b7169203331";

interface Span {
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code?: number };
}
interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const start = useServerProcesses();
let folder: ReturnType<typeof temporaryFolder>;
let collector: Collector;
beforeEach(() => {
  folder = temporaryFolder();
  collector = startCollector();
});
afterEach(() => {
  collector.stop();
  folder.remove();
});

type Collector = ReturnType<typeof startCollector>;

/** Starts a minimal OpenTelemetry collector, which receives traces by OTLP over HTTP with JSON. */
function startCollector() {
  const bodies: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/v1/traces": {
        async POST(request) {
          bodies.push(await request.text());
          return Response.json({ partialSuccess: {} });
        },
      },
    },
  });
  const batches = () => bodies.flatMap((body) => (JSON.parse(body) as Batch).resourceSpans);
  return {
    url: server.url.origin,
    bodies,
    resources: () => batches().map(({ resource }) => values(resource.attributes)),
    spans: () => batches().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    stop: () => void server.stop(true),
  };
}

const values = (attributes: Span["attributes"]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const database = () => `sqlite:${folder.path}/plants.db`;
const traceparent = (flags: "00" | "01") => ({ traceparent: `00-${TRACE_ID}-${CALLER_ID}-${flags}` });

describe("serve with --otlp-endpoint", () => {
  it("exports a span of each request in the caller's trace, without tokens", async () => {
    const server = await start(["--database", database(), "--otlp-endpoint", `${collector.url}/`, "--log", "requests"]);
    const token = /plt_\w+/.exec(server.stdout())?.[0] ?? "";
    const before = Date.now();
    const headers = { Authorization: `Bearer ${token}`, "X-Request-Id": "mine", ...traceparent("01") };
    expect((await fetch(`${server.url}/plants?tag=${token}`, { headers })).status).toBe(200);
    await until(collector.spans, (spans) => spans.length > 0);
    const [span, ...others] = collector.spans();
    expect(others).toEqual([]);
    expect(span).toMatchObject({ traceId: TRACE_ID, parentSpanId: CALLER_ID, name: "listPlants", kind: 2 });
    expect(values(span?.attributes ?? [])).toEqual({
      "http.request.method": "GET",
      "http.response.status_code": 200,
      "plantstore.request_id": "mine",
    });
    const [from, to] = [Number(span?.startTimeUnixNano) / 1e6, Number(span?.endTimeUnixNano) / 1e6];
    expect(from).toBeGreaterThanOrEqual(before - 1);
    expect(to).toBeGreaterThan(from);
    expect(to).toBeLessThanOrEqual(Date.now() + 1);
    expect(collector.resources()[0]).toMatchObject({ "service.name": "plantstore" });
    expect(collector.bodies.join()).not.toContain(token);
    await server.logged(`"traceId":"${TRACE_ID}"`);
  });

  it("flushes pending spans at shutdown, with the errors of failed requests", async () => {
    const server = await start(["--database", database(), "--otlp-endpoint", collector.url, "--drain", "0s"]);
    const response = await fetch(`${server.url}/plants`);
    expect(response.status).toBe(401);
    expect(await server.stop()).toBe(0);
    const spans = collector.spans();
    expect(spans).toHaveLength(1);
    expect(spans[0]?.parentSpanId).toBeUndefined();
    expect(values(spans[0]?.attributes ?? [])).toMatchObject({
      "http.response.status_code": 401,
      "error.type": "unauthenticated",
    });
    expect(server.log().find(({ requestId }) => requestId)).toMatchObject({ traceId: spans[0]?.traceId });
  });

  it("follows the caller's sampling decision, or else the ratio", async () => {
    const ratio = ["--otlp-endpoint", collector.url, "--trace-ratio", "0", "--drain", "0s"];
    const server = await start(["--database", database(), ...ratio]);
    await fetch(`${server.url}/livez`);
    await fetch(`${server.url}/livez`, { headers: traceparent("00") });
    await fetch(`${server.url}/readyz`, { headers: traceparent("01") });
    await server.stop();
    expect(collector.spans().map(({ name }) => name)).toEqual(["readyz"]);
  });

  it("reads the endpoint and the service name from the OTEL_* variables", async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: "greenhouse" };
    const server = await start(["--database", database(), "--drain", "0s"], env);
    await fetch(`${server.url}/livez`);
    await server.stop();
    expect(collector.resources()[0]).toMatchObject({ "service.name": "greenhouse" });
  });

  it("keeps serving when the collector is unreachable, and logs it", async () => {
    collector.stop();
    const server = await start(["--database", database(), "--otlp-endpoint", collector.url, "--drain", "0s"]);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    await server.logged("spans not exported");
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });
});

describe("Tracing", () => {
  it("flushes several batches when it closes", async () => {
    const warnings: unknown[] = [];
    const log = { warn: (...args: unknown[]) => warnings.push(args) } as unknown as Log["events"];
    const tracing = new Tracing(collector.url, 1, undefined, log);
    const call = { request: new Request("http://x/livez"), requestId: "mine" };
    const event = { call, operation: "livez", status: 200, durationMs: 1, error: undefined } as ResponseEvent;
    for (let n = 0; n < 3_000; n++) tracing.record(event);
    await tracing.close();
    expect(await until(collector.spans, (spans) => spans.length === 3_000)).toHaveLength(3_000);
    expect(warnings).toEqual([]);
  });
});

describe("serve without --otlp-endpoint", () => {
  it("ignores the caller's trace context", async () => {
    const server = await start(["--database", database()]);
    expect((await fetch(`${server.url}/livez`, { headers: traceparent("01") })).status).toBe(200);
    expect(collector.bodies).toEqual([]);
  });
});
