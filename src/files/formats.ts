/** Supported file formats for import and export. */
export const FORMATS = ["ndjson", "csv", "json"] as const;
/** One of {@link FORMATS}. */
export type Format = (typeof FORMATS)[number];

/** Returns the format for the name of a format or file, or `undefined` if it is unknown; `.jsonl` is `ndjson`. */
export function formatOf(name: string): Format | undefined {
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return FORMATS.find((format) => format === (extension === "jsonl" ? "ndjson" : extension));
}
