/** The formats that plants are imported from and exported to. */
export const FORMATS = ["ndjson", "csv", "json"] as const;
/** One of {@link FORMATS}. */
export type Format = (typeof FORMATS)[number];

/** The format of this name, or of a file with this name; `undefined` when it is none of {@link FORMATS}. */
export function formatOf(name: string): Format | undefined {
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return FORMATS.find((format) => format === (extension === "jsonl" ? "ndjson" : extension));
}
