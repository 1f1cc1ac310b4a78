/** The typed client for Plant Store. Runs in Bun, in Node 22 or newer and in browsers; depends on nothing. */

export type { ErrorCode } from "../domain/error.ts";
export type { NewPlant, Plant, PlantId } from "../domain/plant.ts";
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
