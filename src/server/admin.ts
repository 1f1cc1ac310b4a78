import type { Config } from "../config/config.ts";
import { metricsRoute } from "../http/routes.ts";
import { HttpServer } from "../http/server.ts";

/**
 * Starts the admin listener, unless it is off.
 * @throws Error when it cannot listen on its address
 */
export function startAdminListener(
  { adminHost, adminPort, idleTimeout }: Config<"adminHost" | "adminPort" | "idleTimeout">,
  metrics: Parameters<typeof metricsRoute>[0],
): HttpServer | undefined {
  if (adminPort === undefined) return undefined;
  return new HttpServer({
    host: adminHost,
    port: adminPort,
    reusePort: false,
    idleTimeoutSeconds: Math.ceil(idleTimeout / 1_000),
    routes: [metricsRoute(metrics)],
    authenticator: { authenticate: () => undefined },
    onResponse: () => {},
  });
}
