import type { Owner } from "./plant.ts";

/** All scopes of tokens. */
export const SCOPES = ["plants:read", "plants:write"] as const;
/** One of {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number];

/** A token as it is stored, without its secret. Times are in epoch milliseconds. */
export interface Token {
  /** SHA-256 of the secret, in 64 lower-case hexadecimal digits. */
  readonly digest: string;
  readonly owner: Owner;
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly label?: string | undefined;
  readonly expiresAt?: number | undefined;
  readonly lastUsedAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

/** The owner and scopes of a valid credential. It has a `digest` if it is a token of this database. */
export type Access = Pick<Token, "owner" | "scopes"> & Partial<Pick<Token, "digest">>;

/** In Unicode code points. */
export const OWNER_MAX_LENGTH = 255;
/** In Unicode code points. */
export const LABEL_MAX_LENGTH = 255;

/** Returns whether `text` is valid as an owner or label: 1 to `maxLength` characters without control characters. */
export function isPlainText(text: string, maxLength: number): boolean {
  return /^[^\p{Cc}]+$/u.test(text) && text.isWellFormed() && [...text].length <= maxLength;
}

const PREFIX = "plt_";
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SECRET_PATTERN = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** Returns a new secret: `plt_`, 30 random base62 characters (178 bits) and their checksum. */
export function mintSecret(): string {
  const random = randomBase62(RANDOM_LENGTH);
  return PREFIX + random + checksum(random);
}

/** Returns whether `text` has the format and checksum of a secret. Detects mistyped secrets without a database query. */
export function isWellFormedSecret(text: string): boolean {
  if (!SECRET_PATTERN.test(text)) return false;
  const end = PREFIX.length + RANDOM_LENGTH;
  return checksum(text.slice(PREFIX.length, end)) === text.slice(end);
}

/** Returns the digest of a secret. A secret has 178 random bits, so SHA-256 without salt or stretching suffices. */
export function digestSecret(secret: string): string {
  return new Bun.CryptoHasher("sha256").update(secret).digest("hex");
}

/** Returns the public id of a token: the first 12 hexadecimal digits of its digest. */
export const tokenId = (token: Token): string => token.digest.slice(0, 12);

/** Returns whether the token is neither revoked nor expired at `now`. */
export function isValid(token: Token, now: number): boolean {
  return token.revokedAt === undefined && (token.expiresAt === undefined || now < token.expiresAt);
}

function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 is a multiple of 62. Bytes from 248 to 255 would make the first eight characters more likely.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

/** Returns the CRC-32 as six base62 digits, most significant first (62^6 > 2^32). */
function checksum(text: string): string {
  let rest = Bun.hash.crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
