import { AppError } from "../domain/error.ts";
import { type Call, jsonResponse } from "./call.ts";

/** What `/readyz` asks: whether this process should be sent requests. */
export interface Readiness {
  /** True from the first stop signal on. */
  isDraining(): boolean;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
}

/** `GET /livez`: the process answers; touches nothing else. */
export const livez = (call: Call): Response => jsonResponse(call, 200, '{"status":"live"}');

/** `GET /readyz`: the database answers and the process is not on its way out. */
export async function readyz(readiness: Readiness, call: Call): Promise<Response> {
  if (readiness.isDraining()) throw new AppError("unavailable", "the server is stopping: use another");
  await readiness.ping();
  return jsonResponse(call, 200, '{"status":"ready"}');
}
