import { Option } from "commander";
import { Tokens } from "../auth/tokens.ts";
import { readConfig, UsageError } from "../config/config.ts";
import { parseDuration } from "../config/values.ts";
import {
  isPlainText,
  isValid,
  LABEL_MAX_LENGTH,
  OWNER_MAX_LENGTH,
  SCOPES,
  type Scope,
  type Token,
  tokenId,
} from "../domain/token.ts";
import { signInLink } from "../server/sign-in-link.ts";
import { openStorage } from "../storage/open.ts";
import { command } from "./command.ts";

const DATABASE_SETTINGS = ["database", "queryTimeout"] as const;
const MAX_EXPIRY_MS = 100 * 365 * 86_400_000;

/** `plantstore token create|list|revoke` */
export const tokenCommand = () =>
  command("token")
    .summary("create, list and revoke tokens")
    .description(
      "Manages the tokens that clients authenticate with. These commands can run while a server uses the database.",
    )
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());

const createCommand = () =>
  command("create", [...DATABASE_SETTINGS, "url"])
    .summary("create a token and print it")
    .description(
      "Prints only the token or, with --link, only a sign-in link. The token cannot be displayed again: the database contains only its SHA-256.",
    )
    .requiredOption("--owner <name>", "owner whose plants the token can access")
    .option("--scopes <list>", `comma-separated scopes: ${SCOPES.join(", ")}`, SCOPES.join(","))
    .option("--expires <duration>", "lifetime, such as 12h or 30d; default: unlimited")
    .option("--label <text>", "description for `token list`")
    .option("--link", "print a link that signs in to the web page at --url with the token")
    .action(async (flags) => {
      const options = {
        owner: parseText("--owner", flags.owner, OWNER_MAX_LENGTH),
        scopes: parseScopes(flags.scopes),
        label: flags.label === undefined ? undefined : parseText("--label", flags.label, LABEL_MAX_LENGTH),
        expiresAt: flags.expires === undefined ? undefined : Date.now() + parseExpiry(flags.expires),
      };
      const pageUrl = flags.link ? readConfig(["url"], flags).url : undefined;
      const secret = await withTokens(flags, false, (tokens) => tokens.create(options));
      console.log(pageUrl === undefined ? secret : signInLink(pageUrl, secret));
    });

const listCommand = () =>
  command("list", DATABASE_SETTINGS)
    .summary("list all tokens, without their secrets")
    .addOption(new Option("--json", "print JSON lines, with ISO 8601 times"))
    .action(async (flags) => {
      const rows = (await withTokens(flags, true, (tokens) => tokens.list())).map(toRow);
      if (flags.json) for (const row of rows) console.log(JSON.stringify(row));
      else printTable(rows);
    });

const revokeCommand = () =>
  command("revoke", DATABASE_SETTINGS)
    .summary("revoke a token; servers reject it within one second")
    .argument("<token>", "id from `token list`, or the token itself")
    .action(async (idOrSecret: string, flags) => {
      const isRevoked = await withTokens(flags, true, (tokens) => tokens.revoke(idOrSecret));
      if (!isRevoked) throw new Error("the token does not exist or is already revoked: see `token list`");
      console.log("revoked");
    });

async function withTokens<Result>(
  flags: Record<string, unknown>,
  mustExist: boolean,
  use: (tokens: Tokens) => Promise<Result>,
): Promise<Result> {
  const { database, queryTimeout: queryTimeoutMs } = readConfig(DATABASE_SETTINGS, flags);
  const storage = await openStorage(database, { forServer: false, mustExist, queryTimeoutMs });
  try {
    return await use(new Tokens(storage));
  } finally {
    await storage.close();
  }
}

type TokenRow = Record<"id" | "owner" | "scopes" | "label" | "status" | "created" | "expires" | "lastUsed", string>;

function toRow(token: Token): TokenRow {
  const time = (value: number | undefined) => (value === undefined ? "" : new Date(value).toISOString());
  const invalidStatus = token.revokedAt === undefined ? "expired" : "revoked";
  return {
    id: tokenId(token),
    owner: token.owner,
    scopes: token.scopes.join(","),
    label: token.label ?? "",
    status: isValid(token, Date.now()) ? "valid" : invalidStatus,
    created: time(token.createdAt),
    expires: time(token.expiresAt),
    lastUsed: time(token.lastUsedAt),
  };
}

function printTable(rows: readonly TokenRow[]): void {
  const header: TokenRow = {
    id: "ID",
    owner: "OWNER",
    scopes: "SCOPES",
    label: "LABEL",
    status: "STATUS",
    created: "CREATED",
    expires: "EXPIRES",
    lastUsed: "LAST USED",
  };
  const table = [header, ...rows].map((row) => Object.values(row).map((cell) => cell || "-"));
  const widths = Object.keys(header).map((_, column) =>
    Math.max(...table.map((row) => Bun.stringWidth(row[column] ?? ""))),
  );
  const pad = (cell: string, column: number) => cell + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
  for (const row of table) console.log(row.map(pad).join("  ").trimEnd());
}

function parseText(flag: string, text: string, maxLength: number): string {
  if (isPlainText(text, maxLength)) return text;
  throw new UsageError(`${flag} must be 1 to ${maxLength} characters without control characters`);
}

function parseScopes(text: string): readonly Scope[] {
  const chosen = new Set(text.split(","));
  const scopes = SCOPES.filter((scope) => chosen.has(scope));
  if (scopes.length === chosen.size) return scopes;
  throw new UsageError(`--scopes must be ${SCOPES.join(", ")} or both, separated by a comma`);
}

function parseExpiry(text: string): number {
  const milliseconds = parseDuration(text, 1_000, MAX_EXPIRY_MS);
  if (milliseconds !== undefined) return milliseconds;
  throw new UsageError("--expires must be a duration from 1s to 36500d, such as 12h or 30d");
}
