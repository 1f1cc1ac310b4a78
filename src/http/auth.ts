import type { Scope, Token } from "../domain/token.ts";
import type { Tokens } from "../tokens.ts";
import { HttpError } from "./errors.ts";

const CHALLENGE = 'Bearer realm="plantstore"';
/**
 * A header that stood twice comes joined with a comma and a space (RFC 9110, 5.3). After a bearer token that can only be
 * a second credential; other schemes use commas themselves.
 */
const SECOND_CREDENTIAL = /^\s*,|^bearer\b.*,(?:\s|$)|,\s*[\w!#$%&'*.^`|~+-]+ +[^\s=,]/i;

// Refusals are made once: a flood of bad tokens then pays for no error and its stack.
const NO_TOKEN = new HttpError("unauthenticated", "send a token: Authorization: Bearer plt_...", {
  "WWW-Authenticate": CHALLENGE,
});
const INVALID_TOKEN = refusal(
  "invalid_token",
  "the token is malformed, unknown, expired or revoked",
  'error="invalid_token"',
);
const TWO_CREDENTIALS = refusal(
  "multiple_credentials",
  "send one Authorization header with one credential",
  'error="invalid_request"',
);

/**
 * Lets a request in when its bearer token has the scope (RFC 6750). Comes before anything else about the request.
 * @throws HttpError `unauthenticated`, `invalid_token`, `insufficient_scope`, `multiple_credentials`
 */
export async function authorize(request: Request, scope: Scope, tokens: Tokens): Promise<Token> {
  const token = await tokens.authenticate(bearerSecret(request.headers.get("authorization")));
  if (token === undefined) throw INVALID_TOKEN;
  if (!token.scopes.includes(scope)) {
    const message = `this needs a token with the scope ${scope}`;
    throw refusal("insufficient_scope", message, `error="insufficient_scope", scope="${scope}"`);
  }
  return token;
}

/** The secret in an `Authorization: Bearer` header; the scheme is case-insensitive. */
function bearerSecret(authorization: string | null): string {
  if (authorization === null) throw NO_TOKEN;
  if (SECOND_CREDENTIAL.test(authorization)) throw TWO_CREDENTIALS;
  const match = /^bearer(?: +(.*))?$/i.exec(authorization);
  if (match === null) throw NO_TOKEN;
  return match[1] ?? "";
}

function refusal(code: HttpError["code"], message: string, reason: string): HttpError {
  return new HttpError(code, message, { "WWW-Authenticate": `${CHALLENGE}, ${reason}` });
}
