import { Tokens } from "../auth/tokens.ts";
import { readConfig } from "../config/config.ts";
import { duration, list, plainText } from "../config/kinds.ts";
import { LABEL_MAX_LENGTH, OWNER_MAX_LENGTH, SCOPES } from "../domain/token.ts";
import { signInLink } from "../server/sign-in-link.ts";
import { openStorage } from "../storage/open.ts";
import { command, option } from "./command.ts";
import { printTokens } from "./print-tokens.ts";

const DATABASE_SETTINGS = ["database", "queryTimeout"] as const;

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

const scopes = list("list", `scopes: ${SCOPES.join(", ")}`, (text) => SCOPES.find((scope) => scope === text));

const createCommand = () =>
  command("create", [...DATABASE_SETTINGS, "url"])
    .summary("create a token and print it")
    .description(
      "Prints only the token or, with --link, only a sign-in link. The token cannot be displayed again: the database contains only its SHA-256.",
    )
    .addOption(
      option(
        "--owner",
        plainText("name", OWNER_MAX_LENGTH),
        "owner whose plants the token can access",
      ).makeOptionMandatory(),
    )
    .addOption(option("--scopes", scopes, scopes.rule).default(SCOPES, SCOPES.join(",")))
    .addOption(option("--expires", duration("1s", "36500d"), "lifetime, such as 12h or 30d; default: unlimited"))
    .addOption(option("--label", plainText("text", LABEL_MAX_LENGTH), "description for `token list`"))
    .option("--link", "print a link that signs in to the web page at --url with the token")
    .action(async ({ owner, scopes, label, expires, link, ...flags }) => {
      const pageUrl = link ? readConfig([...DATABASE_SETTINGS, "url"], flags).url : undefined;
      const options = {
        owner,
        scopes: SCOPES.filter((scope) => scopes.includes(scope)),
        label,
        expiresAt: expires === undefined ? undefined : Date.now() + expires,
      };
      const secret = await withTokens(flags, false, (tokens) => tokens.create(options));
      console.log(pageUrl === undefined ? secret : signInLink(pageUrl, secret));
    });

const listCommand = () =>
  command("list", DATABASE_SETTINGS)
    .summary("list all tokens, without their secrets")
    .option("--json", "print JSON lines, with ISO 8601 times")
    .action(async ({ json, ...flags }) => {
      printTokens(await withTokens(flags, true, (tokens) => tokens.list()), json === true);
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
