import type { App } from "../app.ts";
import type { Scope } from "../domain/token.ts";
import { asset } from "./asset.ts";
import type { Call } from "./call.ts";
import { livez, type Readiness, readyz } from "./health.ts";
import { ListCache } from "./list-cache.ts";
import { ListScheduler } from "./list-scheduler.ts";
import { describeApi } from "./openapi.ts";
import { pages } from "./pages.ts";
import { createPlant, deletePlant, listPlants } from "./plants.ts";
import { respond } from "./response.ts";
import type { SendBudget } from "./send-budget.ts";

/** One operation on one path. */
export interface Route {
  /** The operation name in metrics, logs and spans. For the API it is the `operationId` of the API description. */
  readonly operation: string;
  /** `GET` also handles `HEAD`. */
  readonly method: "GET" | "POST" | "DELETE";
  /** A path pattern of `Bun.serve`: `:id` is a parameter. */
  readonly path: string;
  /** The required token scope; a route without one is public. */
  readonly scope?: Scope;
  handle(call: Call): Response | Promise<Response>;
}

/** Returns all routes of the main listener. */
export function routes(app: App, readiness: Readiness, budget: SendBudget): readonly Route[] {
  const lists = { app, cache: new ListCache(), budget, scheduler: new ListScheduler() };
  const description = asset("application/json", async () => describeApi());
  return [
    {
      operation: "listPlants",
      method: "GET",
      path: "/plants",
      scope: "plants:read",
      handle: (call) => listPlants(lists, call),
    },
    {
      operation: "createPlant",
      method: "POST",
      path: "/plants",
      scope: "plants:write",
      handle: (call) => createPlant(app, call),
    },
    {
      operation: "deletePlant",
      method: "DELETE",
      path: "/plants/:id",
      scope: "plants:write",
      handle: (call) => deletePlant(app, call),
    },

    { operation: "livez", method: "GET", path: "/livez", handle: livez },
    { operation: "readyz", method: "GET", path: "/readyz", handle: (call) => readyz(readiness, call) },

    { operation: "openapi", method: "GET", path: "/openapi.json", handle: description },
    ...Object.entries(pages()).map(([path, handle]): Route => ({ operation: "page", method: "GET", path, handle })),
  ];
}

/** Returns the route of the admin listener. */
export const metricsRoute = (metrics: { readonly contentType: string; text(): Promise<string> }): Route => ({
  operation: "metrics",
  method: "GET",
  path: "/metrics",
  handle: async (call) => respond(call, 200, await metrics.text(), { "Content-Type": metrics.contentType }),
});
