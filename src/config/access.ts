import { BlockList, isIP } from "node:net";
import type { Setting } from "./setting.ts";
import { orOff, parsePath } from "./values.ts";

const NAME_RULE = "must be 1 to 255 characters without control characters, or off";
const LIMIT_RULE = "must be a rate from 1 to 1000000 per s, m or h, such as 100/s, or off";

/** Settings of `serve` for access control: rate limits, proxies, identity provider, TLS and CORS. */
export const ACCESS_SETTINGS = {
  rateLimit: {
    flag: "--rate-limit",
    variable: "PLANTSTORE_RATE_LIMIT",
    unit: "limit",
    default: "off",
    help: "maximum request rate per token, such as `100/s`, `6000/m` or `100000/h`",
    rule: LIMIT_RULE,
    parse: orOff(parseLimit),
  },
  failureLimit: {
    flag: "--failure-limit",
    variable: "PLANTSTORE_FAILURE_LIMIT",
    unit: "limit",
    default: "600/m",
    help: "maximum rate of invalid tokens per client address; above it they get 429 instead of 401, valid tokens are unaffected",
    rule: LIMIT_RULE,
    parse: orOff(parseLimit),
  },
  trustedProxies: {
    flag: "--trusted-proxies",
    variable: "PLANTSTORE_TRUSTED_PROXIES",
    unit: "addresses",
    default: "off",
    help: "proxies whose `X-Forwarded-For` is trusted: comma-separated IP addresses or networks such as `10.0.0.0/8`",
    rule: "must be comma-separated IP addresses or networks such as 10.0.0.0/8, or off",
    parse: orOff(parseNetworks),
  },
  issuer: {
    flag: "--issuer",
    variable: "PLANTSTORE_ISSUER",
    unit: "name",
    default: "off",
    help: "`iss` claim of the identity provider whose tokens (JWTs) are also accepted",
    rule: NAME_RULE,
    parse: parseName,
  },
  audience: {
    flag: "--audience",
    variable: "PLANTSTORE_AUDIENCE",
    unit: "name",
    default: "off",
    help: "required `aud` claim of the identity provider's tokens",
    rule: NAME_RULE,
    parse: parseName,
  },
  jwksUrl: {
    flag: "--jwks-url",
    variable: "PLANTSTORE_JWKS_URL",
    unit: "url",
    default: "off",
    help: "URL of the identity provider's public keys (JWKS)",
    rule: "must be an https URL, an http URL of localhost, or off",
    parse: orOff(parseKeysUrl),
  },
  ownerClaim: {
    flag: "--owner-claim",
    variable: "PLANTSTORE_OWNER_CLAIM",
    unit: "name",
    default: "sub",
    help: "claim of the identity provider's tokens that names the owner",
    rule: "must be 1 to 255 characters without control characters",
    parse: parseName,
  },
  ownerPrefix: {
    flag: "--owner-prefix",
    variable: "PLANTSTORE_OWNER_PREFIX",
    unit: "text",
    default: "jwt:",
    help: "prefix added to that claim, to separate these owners from those of `plt_` tokens; off adds none",
    rule: "must be 1 to 255 characters without control characters, or off",
    parse: (text: string) => (text === "off" ? "" : parseName(text)),
  },
  tlsCert: {
    flag: "--tls-cert",
    variable: "PLANTSTORE_TLS_CERT",
    unit: "file",
    default: "off",
    help: "TLS certificate chain (PEM); reloaded when the file changes",
    rule: "must be a path, or off",
    parse: parsePath,
  },
  tlsKey: {
    flag: "--tls-key",
    variable: "PLANTSTORE_TLS_KEY",
    unit: "file",
    default: "off",
    help: "private key of the certificate (PEM); reloaded with it",
    rule: "must be a path, or off",
    parse: parsePath,
  },
  corsOrigins: {
    flag: "--cors-origins",
    variable: "PLANTSTORE_CORS_ORIGINS",
    unit: "origins",
    default: "off",
    help: "comma-separated origins whose scripts may call the API, such as `https://shop.example`",
    rule: "must be comma-separated origins such as https://shop.example, or off",
    parse: orOff(parseOrigins),
  },
} as const satisfies Record<string, Setting<unknown>>;

function parseName(text: string): string | undefined {
  return /^\P{Cc}{1,255}$/u.test(text) ? text : undefined;
}

function parseKeysUrl(text: string): string | undefined {
  const { protocol = "", hostname = "" } = URL.parse(text) ?? {};
  const isLocal = protocol === "http:" && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return protocol === "https:" || isLocal ? text : undefined;
}

function parseOrigins(text: string): readonly string[] | undefined {
  const origins = text.split(",").map((origin) => origin.trim());
  return origins.every((each) => /^https?:/.test(each) && URL.parse(each)?.origin === each) ? origins : undefined;
}

const WINDOW_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };

function parseLimit(text: string): { amount: number; windowMs: number } | undefined {
  const [, number, unit] = /^(\d{1,7})\/(s|m|h)$/.exec(text) ?? [];
  const amount = Number(number);
  return amount >= 1 && amount <= 1_000_000 ? { amount, windowMs: WINDOW_MS[unit ?? ""] as number } : undefined;
}

function parseNetworks(text: string): BlockList | undefined {
  const networks = new BlockList();
  for (const network of text.split(",")) {
    const [, address = "", prefix] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(network.trim()) ?? [];
    const family = isIP(address);
    const bits = family === 4 ? 32 : 128;
    if (family === 0 || Number(prefix ?? bits) > bits) return undefined;
    networks.addSubnet(address, Number(prefix ?? bits), family === 4 ? "ipv4" : "ipv6");
  }
  return networks;
}
