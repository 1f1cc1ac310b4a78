import { isValid, type Token, tokenId } from "../domain/token.ts";

const COLUMNS = ["id", "owner", "scopes", "label", "status", "created", "expires", "lastUsed"] as const;
type Row = Record<(typeof COLUMNS)[number], string>;

/** Prints tokens as an aligned table or as JSON lines. */
export function printTokens(tokens: readonly Token[], asJson: boolean): void {
  const rows = tokens.map(toRow);
  if (asJson) for (const row of rows) console.log(JSON.stringify(row));
  else printTable([COLUMNS.map(toHeading), ...rows.map((row) => COLUMNS.map((column) => row[column] || "-"))]);
}

function toRow(token: Token): Row {
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

/** Formats a column name: `LAST USED` for `lastUsed`. */
const toHeading = (column: string): string => column.replace(/[A-Z]/g, " $&").toUpperCase();

function printTable(table: readonly (readonly string[])[]): void {
  const widths = COLUMNS.map((_, column) => Math.max(...table.map((row) => Bun.stringWidth(row[column] ?? ""))));
  const pad = (cell: string, column: number) => cell + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
  for (const row of table) console.log(row.map(pad).join("  ").trimEnd());
}
