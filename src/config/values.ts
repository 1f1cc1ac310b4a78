// Parsers of setting values. All return `undefined` for invalid text; validators return the text itself.

/** Parses a duration such as `500ms`, `30s`, `15m`, `12h` or `30d` within bounds. Returns milliseconds. */
export function parseDuration(text: string, minMs: number, maxMs: number): number | undefined {
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (UNIT_MS[unit ?? ""] ?? Number.NaN);
  return milliseconds >= minMs && milliseconds <= maxMs ? milliseconds : undefined;
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a size such as `512KiB`, `64MiB` or `2GiB` within bounds. Returns bytes. */
export function parseBytes(text: string, min: number, max: number): number | undefined {
  const [, amount, unit] = /^(\d{1,9})(KiB|MiB|GiB)$/.exec(text) ?? [];
  const bytes = Number(amount) * (UNIT_BYTES[unit ?? ""] ?? Number.NaN);
  return bytes >= min && bytes <= max ? bytes : undefined;
}

const UNIT_BYTES: Record<string, number> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Validates a host name or an IP address. */
export function parseHost(text: string): string | undefined {
  return /^[\w.:-]+$/.test(text) ? text : undefined;
}

/** Parses a port; 0 is allowed and means any free port. */
export function parsePort(text: string): number | undefined {
  return parseInteger(text, 0, 65_535);
}

/** Parses an integer within bounds, in decimal digits. */
export function parseInteger(text: string, min: number, max: number): number | undefined {
  return /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined;
}

/** Validates the path of a file or folder, which need not exist. */
export function parsePath(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** Validates an absolute http or https URL. */
export const parseHttpUrl = (text: string): string | undefined =>
  /^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined;

/** Returns a parser that also accepts the word `off`. */
export const orOff =
  <Value>(parse: (text: string) => Value | undefined) =>
  (text: string): Value | "off" | undefined =>
    text === "off" ? text : parse(text);
