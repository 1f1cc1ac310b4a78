/** Typed client for Plant Store. Runs in Bun, Node 22 or newer and browsers. Has no dependencies. */

export type { ErrorCode } from "../domain/error.ts";
export type { CreatedPlant, Plant, PlantId } from "../domain/plant.ts";
export {
  type CallOptions,
  type ClientOptions,
  type CreateOptions,
  type ListOptions,
  type PlantPage,
  PlantStoreClient,
} from "./client.ts";
export { ConnectionError, PlantStoreError } from "./errors.ts";
export type { RetryOptions } from "./retry.ts";
