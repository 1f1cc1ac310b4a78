import type { ResponseEvent } from "../http/call.ts";
import type { Log } from "./log.ts";
import { redact } from "./redact.ts";

/** Maximum failed requests logged per second, so that a flood cannot fill the disk or slow other requests. */
const MAX_FAILURES_PER_SECOND = 500;

/** Logs requests: all of them, or only failed ones with a rate limit. */
export class RequestLog {
  readonly #log: Log["requests"];
  readonly #includes: "failures" | "requests";
  #failureCount = 0;

  constructor(log: Log["requests"], includes: "failures" | "requests") {
    this.#log = log;
    this.#includes = includes;
  }

  /** Logs a completed, failed or aborted request, without tokens and query strings. */
  record(event: ResponseEvent, traceId: string | undefined): void {
    if (this.#includes === "failures" && !this.#isLoggedFailure(event)) return;
    const { call, operation, status, durationMs, error, isAborted } = event;
    const fields = {
      requestId: redact(call.requestId),
      traceId,
      operation,
      method: call.request.method,
      path: redact(call.request.url.replace(/^https?:\/\/[^/]*|\?.*$/g, "")),
      owner: call.owner || undefined,
      status,
      durationMs: Math.round(durationMs * 1_000) / 1_000,
      error: error?.code,
      reason: error?.message,
      err: status < 500 ? undefined : error?.cause,
    };
    if (error === undefined) this.#log.info(fields, "request completed");
    else this.#log[status < 500 ? "warn" : "error"](fields, isAborted ? "response aborted" : "request failed");
  }

  /** Rate-limits failures. Logs the number suppressed once per second. */
  #isLoggedFailure({ error }: ResponseEvent): boolean {
    if (error === undefined) return false;
    if (this.#failureCount === 0) setTimeout(() => this.#endPeriod(), 1_000).unref();
    return ++this.#failureCount <= MAX_FAILURES_PER_SECOND;
  }

  #endPeriod(): void {
    const count = this.#failureCount - MAX_FAILURES_PER_SECOND;
    if (count > 0) this.#log.warn({ count }, "failure log lines suppressed");
    this.#failureCount = 0;
  }
}
