import type { Issuer } from "../auth/issuer.ts";
import { type Config, UsageError } from "../config/config.ts";
import type { Log } from "../observability/log.ts";

/**
 * Returns the identity provider of the settings, or `undefined` when they name none.
 * @throws UsageError when only some of its settings are given
 */
export async function openIssuer(
  config: Config<"issuer" | "audience" | "jwksUrl" | "ownerClaim" | "ownerPrefix">,
  log: Log["events"],
): Promise<Issuer | undefined> {
  const { issuer, audience, jwksUrl, ownerClaim, ownerPrefix = "" } = config;
  if ([issuer, audience, jwksUrl].every((each) => each === undefined)) return undefined;
  if (issuer === undefined || audience === undefined || jwksUrl === undefined)
    throw new UsageError("--issuer, --audience and --jwks-url go together: give all three, or none");
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
