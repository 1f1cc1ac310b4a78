import { UsageError } from "../config.ts";
import { FORMATS, type Format, formatOf } from "../files/formats.ts";

/**
 * The format that `--format` names, or else the file's extension.
 * @throws UsageError
 */
export function chooseFormat(file: string, named: string | undefined): Format {
  const format = formatOf(named ?? file);
  if (format !== undefined) return format;
  throw new UsageError(`--format must be ${FORMATS.join(", ")}${named === undefined ? `: ${file} does not tell` : ""}`);
}
