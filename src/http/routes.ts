import type { App } from "../app.ts";
import type { Scope } from "../domain/token.ts";
import { asset } from "./asset.ts";
import type { Call } from "./call.ts";
import { livez, type Readiness, readyz } from "./health.ts";
import { ListCache } from "./list-cache.ts";
import { ListScheduler } from "./list-scheduler.ts";
import { describeApi } from "./openapi.ts";
import { createPlant, deletePlant, listPlants } from "./plants.ts";
import { respond } from "./response.ts";
import type { SendBudget } from "./send-budget.ts";
import { webPage } from "./web-page.ts";

/** One operation on one path. */
export interface Route {
  /** The operation name in metrics, logs and spans. For the API it is the `operationId` of the API description. */
  readonly operation: string;
  /** `GET` also handles `HEAD`. */
  readonly method: "GET" | "POST" | "DELETE";
  /** A path pattern of `Bun.serve`: `:id` is a parameter. */
  readonly path: string;
  /** The required token scope; a route without one is public. */
  readonly scope?: Scope | undefined;
  handle(call: Call): Response | Promise<Response>;
}

/** Returns all routes of the main listener. */
export function routes(app: App, readiness: Readiness, budget: SendBudget): readonly Route[] {
  const lists = { app, cache: new ListCache(), budget, scheduler: new ListScheduler() };
  const description = asset("application/json", async () => describeApi());
  return [
    route("GET", "/plants", "listPlants", (call) => listPlants(lists, call), "plants:read"),
    route("POST", "/plants", "createPlant", (call) => createPlant(app, call), "plants:write"),
    route("DELETE", "/plants/:id", "deletePlant", (call) => deletePlant(app, call), "plants:write"),
    route("GET", "/livez", "livez", livez),
    route("GET", "/readyz", "readyz", (call) => readyz(readiness, call)),
    route("GET", "/openapi.json", "openapi", description),
    ...Object.entries(webPage()).map(([path, handle]) => route("GET", path, "page", handle)),
  ];
}

/** Returns the route of the admin listener. */
export const metricsRoute = (metrics: { readonly contentType: string; text(): Promise<string> }): Route =>
  route("GET", "/metrics", "metrics", async (call) =>
    respond(call, 200, await metrics.text(), { "Content-Type": metrics.contentType }),
  );

const route = (
  method: Route["method"],
  path: string,
  operation: string,
  handle: Route["handle"],
  scope?: Scope,
): Route => ({ method, path, operation, handle, scope });
