import type { Option } from "commander";
import { UsageError } from "../config/config.ts";
import { kind } from "../config/kinds.ts";
import { FORMATS, type Format, formatOf } from "../files/formats.ts";
import { option } from "./command.ts";

const NAMES = FORMATS.join(", ");

/** Creates the option `--format`. */
export const formatOption = (defaults: string): Option =>
  option("--format", kind("name", `one of ${NAMES}`, formatOf), `${NAMES}; default: ${defaults}`);

/**
 * Returns the format given with `--format`, or else the format of the file extension.
 * @throws UsageError when the extension is unknown
 */
export function chooseFormat(file: string, chosen: Format | undefined): Format {
  const format = chosen ?? formatOf(file);
  if (format !== undefined) return format;
  throw new UsageError(`--format is required for ${file === "-" ? "standard input" : file}: one of ${NAMES}`);
}
