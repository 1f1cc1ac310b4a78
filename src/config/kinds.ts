import { BlockList, isIP } from "node:net";
import { parseDatabaseUrl } from "../storage/database-url.ts";

/** Result of parsing invalid text. It differs from `undefined`, the value of an optional setting that is off. */
export const INVALID = Symbol("invalid");

/** A type of value for settings and command options: its parser and the texts that describe it. */
export interface Kind<Value> {
  /** Placeholder for the value in the help text. */
  readonly unit: string;
  /** Completes "--flag must be" in the error message. */
  readonly rule: string;
  /** Text of the default value. */
  readonly default?: string;
  parse(text: string): Value | typeof INVALID;
}

/** Returns `undefined` for invalid text. */
type Parser<Value> = (text: string) => Value | undefined;

/** Creates a kind from a parser. */
export function kind<Value>(unit: string, rule: string, parse: Parser<Value>): Kind<Value> {
  return { unit, rule, parse: (text) => parse(text) ?? INVALID };
}

/** Makes a kind optional: `off`, its default, parses to `undefined`. */
export function optional<Value>({ unit, rule, parse }: Kind<Value>): Kind<Value | undefined> {
  return { unit, rule: `${rule}, or off`, default: "off", parse: (text) => (text === "off" ? undefined : parse(text)) };
}

/** An integer in decimal digits. */
export function integer(min: number, max: number): Kind<number> {
  return kind("number", `an integer from ${min} to ${max}`, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

/** A TCP port; 0 means any free port. */
export const port = integer(0, 65_535);

/** A number from 0 to 1. */
export const fraction = kind("number", "a number from 0 to 1", (text) =>
  /^(?:0|1(?:\.0+)?|0?\.\d+)$/.test(text) ? Number(text) : undefined,
);

/** An integer with a unit, such as `30s` or `64MiB`. */
function quantity(name: string, units: Readonly<Record<string, number>>, min: string, max: string): Kind<number> {
  const parse = (text: string) => {
    const [, amount, unit = ""] = /^(\d{1,9})([A-Za-z]+)$/.exec(text) ?? [];
    return Number(amount) * (units[unit] ?? Number.NaN);
  };
  const [lowest, highest] = [parse(min), parse(max)];
  return kind(name, `a ${name} from ${min} to ${max}`, (text) => {
    const value = parse(text);
    return value >= lowest && value <= highest ? value : undefined;
  });
}

const DURATION_UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZE_UNITS = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** A duration such as `500ms`, `30s`, `15m`, `12h` or `30d`, in milliseconds. */
export const duration = (min: string, max: string): Kind<number> => quantity("duration", DURATION_UNITS, min, max);

/** A size such as `512KiB`, `64MiB` or `2GiB`, in bytes. */
export const size = (min: string, max: string): Kind<number> => quantity("size", SIZE_UNITS, min, max);

/** A rate such as `100/s`: an amount per window. */
export const rate = kind("limit", "a rate from 1 to 1000000 per s, m or h, such as 100/s", (text) => {
  const [, number, unit] = /^(\d{1,7})\/(s|m|h)$/.exec(text) ?? [];
  const amount = Number(number);
  const windowMs = DURATION_UNITS[unit as "s" | "m" | "h"];
  return amount >= 1 && amount <= 1_000_000 ? { amount, windowMs } : undefined;
});

/** One of these words. */
export const choice = <Word extends string>(...words: readonly Word[]): Kind<Word> =>
  kind("choice", words.join(" or "), (text) => words.find((word) => word === text));

/** Comma-separated values. */
export function list<Value>(unit: string, rule: string, parse: Parser<Value>): Kind<readonly Value[]> {
  return kind(unit, `comma-separated ${rule}`, (text) => {
    const values = text.split(",").map((each) => parse(each.trim()));
    return values.every((value) => value !== undefined) ? values : undefined;
  });
}

/** Text that `isValid` accepts. */
const text = (unit: string, rule: string, isValid: (text: string) => boolean): Kind<string> =>
  kind(unit, rule, (value) => (isValid(value) ? value : undefined));

/** Text without control characters. `maxLength` is in Unicode code points. */
export function plainText(unit: "name" | "text", maxLength: number): Kind<string> {
  const pattern = new RegExp(`^\\P{Cc}{1,${maxLength}}$`, "u");
  return text(unit, `1 to ${maxLength} characters without control characters`, (value) => pattern.test(value));
}

/** The path of a file or folder, which need not exist. */
export const path = (unit: "file" | "folder"): Kind<string> => text(unit, "a path", (value) => value !== "");

/** A host name or an IP address. */
export const host = text("address", "a host name or an IP address", (value) => /^[\w.:-]+$/.test(value));

/** An absolute http or https URL. */
export const httpUrl = text("url", "an http or https URL", (url) => /^https?:\/\//.test(url) && URL.canParse(url));

/** A URL whose response an attacker on the network cannot forge. */
export const trustedUrl = text("url", "an https URL, or an http URL of localhost", (value) => {
  const { protocol = "", hostname = "" } = URL.parse(value) ?? {};
  return protocol === "https:" || (protocol === "http:" && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname));
});

/** Comma-separated web origins. */
export const origins = list("origins", "origins such as https://shop.example", (text) =>
  /^https?:/.test(text) && URL.parse(text)?.origin === text ? text : undefined,
);

/** Comma-separated IP addresses and networks. */
export const networks = kind("addresses", "comma-separated IP addresses or networks such as 10.0.0.0/8", (text) => {
  const networks = new BlockList();
  for (const network of text.split(",")) {
    const [, address = "", prefix] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(network.trim()) ?? [];
    const family = isIP(address);
    const bits = family === 4 ? 32 : 128;
    if (family === 0 || Number(prefix ?? bits) > bits) return undefined;
    networks.addSubnet(address, Number(prefix ?? bits), family === 4 ? "ipv4" : "ipv6");
  }
  return networks;
});

/** A token. Its checksum is not verified, because the server may accept other tokens. */
export const token = text("token", "a token from `plantstore token create`", (value) => /^[\x21-\x7e]+$/.test(value));

/** A database URL. SQLite requires a file, PostgreSQL a single host and a database name. */
export const database = kind(
  "url",
  "sqlite:<file> or postgres://<user>:<password>@<host>:<port>/<database> with a single host",
  parseDatabaseUrl,
);
