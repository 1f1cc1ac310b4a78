import type { MetricsSnapshot } from "../observability/metrics.ts";
import type { Announcement } from "./announcement.ts";

/** A message from a worker to its supervisor. */
export type WorkerMessage =
  | { readonly type: "ready"; readonly announcement: Announcement }
  | { readonly type: "startFailed"; readonly reason: string }
  | { readonly type: "metrics"; readonly metrics: MetricsSnapshot };

/** A message from a supervisor to a worker: a request for its metrics. */
export interface SupervisorMessage {
  readonly type: "collectMetrics";
}
