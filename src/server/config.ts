import { ACCESS_SETTINGS } from "../config/access.ts";
import type { Config, SettingName } from "../config/config.ts";
import { OBSERVABILITY_SETTINGS } from "../config/observability.ts";

/** The settings of `serve`, in the order of its help text. */
export const SERVE_SETTINGS = [
  "database",
  "queryTimeout",
  "poolSize",
  "workers",
  "host",
  "port",
  ...(Object.keys(ACCESS_SETTINGS) as (keyof typeof ACCESS_SETTINGS)[]),
  ...(Object.keys(OBSERVABILITY_SETTINGS) as (keyof typeof OBSERVABILITY_SETTINGS)[]),
  "idleTimeout",
  "sendBuffer",
  "drain",
  "stopTimeout",
  "backupDir",
  "backupEvery",
  "backupKeep",
] as const satisfies readonly SettingName[];

/** The settings of `serve`. */
export type ServeConfig = Config<(typeof SERVE_SETTINGS)[number]>;
