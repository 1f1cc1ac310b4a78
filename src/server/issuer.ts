import type { Issuer } from "../auth/issuer.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../observability/log.ts";

/** Returns the configured identity provider, or `undefined` when none is configured. */
export async function openIssuer(
  config: Config<"issuer" | "audience" | "jwksUrl" | "ownerClaim" | "ownerPrefix">,
  log: Log["events"],
): Promise<Issuer | undefined> {
  const { issuer, audience, jwksUrl, ownerClaim, ownerPrefix = "" } = config;
  if (issuer === undefined || audience === undefined || jwksUrl === undefined) return undefined;
  // Loads jose only when it is needed.
  const { Issuer } = await import("../auth/issuer.ts");
  return new Issuer({
    issuer,
    audience,
    jwksUrl,
    ownerClaim,
    ownerPrefix,
    onKeysUnavailable: ({ cause }) => log.warn({ err: cause }, "cannot fetch the identity provider's keys"),
  });
}
