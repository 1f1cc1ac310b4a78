import { AppError } from "../domain/error.ts";
import type { Call } from "./call.ts";
import { respond } from "./response.ts";

/** The checks of `/readyz`. */
export interface Readiness {
  /** Returns whether a shutdown has begun. */
  isDraining(): boolean;
  /** Rejects when the database does not respond. */
  ping(): Promise<void>;
}

/** `GET /livez`: the liveness probe. It succeeds whenever the process responds. */
export const livez = (call: Call): Response => respond(call, 200, '{"status":"live"}');

/** `GET /readyz`: the readiness probe. It succeeds when the database responds and the process is not draining. */
export async function readyz(readiness: Readiness, call: Call): Promise<Response> {
  if (readiness.isDraining()) throw new AppError("unavailable", "the server is shutting down: try another server");
  await readiness.ping();
  return respond(call, 200, '{"status":"ready"}');
}
