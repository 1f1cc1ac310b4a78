import { UsageError } from "../config/config.ts";
import { FORMATS, type Format, formatOf } from "../files/formats.ts";

/**
 * Returns the format given with `--format`, or else the format of the file extension.
 * @throws UsageError when the format is unknown
 */
export function chooseFormat(file: string, flag: string | undefined): Format {
  const format = formatOf(flag ?? file);
  if (format !== undefined) return format;
  const names = FORMATS.join(", ");
  if (flag !== undefined) throw new UsageError(`--format must be one of ${names}`);
  throw new UsageError(`--format is required for ${file === "-" ? "standard input" : file}: one of ${names}`);
}
