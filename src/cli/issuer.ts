import { type Config, UsageError } from "../config.ts";
import type { Authenticator } from "../http/auth.ts";
import type { Issuer } from "../issuer.ts";

/**
 * The identity provider that the settings name; `undefined` when they name none.
 * @throws UsageError when they tell only a part of it
 */
export async function openIssuer(
  config: Config<"issuer" | "audience" | "jwksUrl" | "ownerClaim" | "ownerPrefix">,
): Promise<Issuer | undefined> {
  const needed = [config.issuer, config.audience, config.jwksUrl];
  if (needed.every((each) => each === "off")) return undefined;
  if (needed.includes("off"))
    throw new UsageError("--issuer, --audience and --jwks-url go together: give all three, or none");
  // Whoever trusts no provider need not load what checks its tokens.
  const { Issuer } = await import("../issuer.ts");
  return new Issuer(config);
}

/** Asks the tokens of this database, and about all that cannot be one of them the identity provider. */
export function withIssuer(tokens: Authenticator, issuer: Issuer | undefined): Authenticator {
  if (issuer === undefined) return tokens;
  return {
    authenticate: (secret) => (secret.startsWith("plt_") ? tokens.authenticate(secret) : issuer.authenticate(secret)),
  };
}
