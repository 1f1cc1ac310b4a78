import type { Access } from "../domain/token.ts";

/** Verifies bearer tokens. */
export interface Authenticator {
  /**
   * Returns the access that a secret grants, or `undefined` when it is not a valid token. Returns a promise only when
   * it needs I/O.
   * @throws AppError `unavailable`
   */
  authenticate(secret: string): Access | undefined | Promise<Access | undefined>;
}

/** Returns an authenticator that passes `plt_` tokens to `tokens` and all others to `issuer`, if there is one. */
export function withIssuer(tokens: Authenticator, issuer: Authenticator | undefined): Authenticator {
  if (issuer === undefined) return tokens;
  return {
    authenticate: (secret) => (secret.startsWith("plt_") ? tokens.authenticate(secret) : issuer.authenticate(secret)),
  };
}
