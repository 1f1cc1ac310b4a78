import { Option } from "commander";
import { readConfig, UsageError } from "../config.ts";
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
import { parseDuration } from "../settings/values.ts";
import { openStorage } from "../storage/open.ts";
import { Tokens } from "../tokens.ts";
import { command } from "./command.ts";

const DATABASE_SETTINGS = ["database", "queryTimeout"] as const;
const MAX_EXPIRY_MS = 100 * 365 * 86_400_000;

/** `plantstore token create|list|revoke`: they may run while a server runs on the same database. */
export const tokenCommand = () =>
  command("token")
    .summary("create, list and revoke tokens")
    .description("Tokens let clients in. All three commands may run while a server runs on the same database.")
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());

const createCommand = () =>
  command("create", [...DATABASE_SETTINGS, "url"])
    .summary("create a token and print it")
    .description(
      "Prints the new token, and only the token, or a link with it. It cannot be shown again: only its SHA-256 is kept.",
    )
    .requiredOption("--owner <name>", "whose plants the token gives access to")
    .option("--scopes <list>", `what it may do: ${SCOPES.join(", ")}, or both separated by a comma`, SCOPES.join(","))
    .option("--expires <duration>", "when it stops working, as 12h or 30d; without this, never")
    .option("--label <text>", "what it is for, as `token list` shows it")
    .option("--link", "print a link that signs a person in on the page at --url, instead of the token alone")
    .action(async (flags) => {
      const grant = {
        owner: parseText("--owner", flags.owner, OWNER_MAX_LENGTH),
        scopes: parseScopes(flags.scopes),
        label: flags.label === undefined ? undefined : parseText("--label", flags.label, LABEL_MAX_LENGTH),
        expiresAt: flags.expires === undefined ? undefined : Date.now() + parseExpiry(flags.expires),
      };
      const page = flags.link ? readConfig(["url"], flags).url : undefined;
      const secret = await withTokens(flags, false, (tokens) => tokens.create(grant));
      console.log(page === undefined ? secret : linkTo(page, secret));
    });

const listCommand = () =>
  command("list", DATABASE_SETTINGS)
    .summary("list all tokens, without their secrets")
    .addOption(new Option("--json", "as JSON lines, times in ISO 8601"))
    .action(async (flags) => {
      const rows = (await withTokens(flags, true, (tokens) => tokens.list())).map(describe);
      if (flags.json) for (const row of rows) console.log(JSON.stringify(row));
      else printTable(rows);
    });

const revokeCommand = () =>
  command("revoke", DATABASE_SETTINGS)
    .summary("revoke a token: servers refuse it within a second")
    .argument("<token>", "its id, as `token list` shows it, or the token itself")
    .action(async (idOrSecret: string, flags) => {
      const isRevoked = await withTokens(flags, true, (tokens) => tokens.revoke(idOrSecret));
      if (!isRevoked) throw new Error("there is no such token, or it is revoked already: see `token list`");
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

/** The link that signs a person in on the page: browsers send nothing of a fragment, so that it is in no log. */
export const linkTo = (url: string, secret: string): string => `${url.replace(/\/+$/, "")}/#token=${secret}`;

type Row = Record<"id" | "owner" | "scopes" | "label" | "status" | "created" | "expires" | "lastUsed", string>;

function describe(token: Token): Row {
  const time = (value: number | undefined) => (value === undefined ? "" : new Date(value).toISOString());
  const ended = token.revokedAt === undefined ? "expired" : "revoked";
  return {
    id: tokenId(token),
    owner: token.owner,
    scopes: token.scopes.join(","),
    label: token.label ?? "",
    status: isValid(token, Date.now()) ? "valid" : ended,
    created: time(token.createdAt),
    expires: time(token.expiresAt),
    lastUsed: time(token.lastUsedAt),
  };
}

function printTable(rows: readonly Row[]): void {
  const header: Row = {
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
  throw new UsageError(`--scopes must be ${SCOPES.join(", ")}, or both separated by a comma`);
}

function parseExpiry(text: string): number {
  const milliseconds = parseDuration(text, 1_000, MAX_EXPIRY_MS);
  if (milliseconds !== undefined) return milliseconds;
  throw new UsageError("--expires must be a duration from 1s to 36500d, as 12h or 30d");
}
