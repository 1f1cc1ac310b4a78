// What the texts of settings stand for; `undefined` when they stand for nothing.

/** Milliseconds of a duration like `500ms`, `30s`, `15m`, `12h` or `30d`; `undefined` when it is none or out of bounds. */
export function parseDuration(text: string, minMs: number, maxMs: number): number | undefined {
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (UNIT_MS[unit ?? ""] ?? Number.NaN);
  return milliseconds >= minMs && milliseconds <= maxMs ? milliseconds : undefined;
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The bytes of a size such as `512KiB`, `64MiB` or `2GiB`; `undefined` when it is malformed or out of bounds. */
export function parseBytes(text: string, min: number, max: number): number | undefined {
  const [, amount, unit] = /^(\d{1,9})(KiB|MiB|GiB)$/.exec(text) ?? [];
  const bytes = Number(amount) * (UNIT_BYTES[unit ?? ""] ?? Number.NaN);
  return bytes >= min && bytes <= max ? bytes : undefined;
}

const UNIT_BYTES: Record<string, number> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** The URL of a database that is kept in a file or by a server. */
export function parseDatabase(text: string): string | undefined {
  if (/^sqlite:(?!:memory:).+/.test(text)) return text;
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) return undefined;
  const { hostname, pathname } = new URL(text);
  return !hostname.includes(",") && /^\/([^%/]|%[0-9a-fA-F]{2})+$/.test(pathname) ? text : undefined;
}

/** A host name or an IP address. */
export function parseHost(text: string): string | undefined {
  return /^[\w.:-]+$/.test(text) ? text : undefined;
}

/** A port, 0 for a free one. */
export function parsePort(text: string): number | undefined {
  return parseInteger(text, 0, 65_535);
}

/** An integer within bounds. */
export function parseInteger(text: string, min: number, max: number): number | undefined {
  return /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined;
}

/** The path of a file or a folder, which need not be there. */
export function parsePath(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** The text itself when it is an absolute URL of `http` or `https`. */
export const parseHttpUrl = (text: string): string | undefined =>
  /^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined;

/** What reads the word `off` as itself, and any other text as `parse` does. */
export const orOff =
  <Value>(parse: (text: string) => Value | undefined) =>
  (text: string): Value | "off" | undefined =>
    text === "off" ? text : parse(text);
