import type { Config } from "../config/config.ts";
import type { SERVE_SETTINGS } from "../config/settings.ts";

/** The settings of `serve`. */
export type ServeConfig = Config<keyof typeof SERVE_SETTINGS>;
