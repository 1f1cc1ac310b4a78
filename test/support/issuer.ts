import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";
import { Issuer, type IssuerOptions } from "../../src/auth/issuer.ts";

/** A signing key of a test's identity provider. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: Record<string, unknown>;
}

/** Generates a signing key. */
export async function newKey(kid: string, alg = "ES256"): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

/** An identity provider, which publishes `keys` at its URL. */
export class Provider {
  readonly issuer = "https://id.example/";
  readonly audience = "plants";
  keys: SigningKey[] = [];
  /** JWK Set members published before `keys`, valid or not. */
  otherKeys: unknown[] = [];
  /** Number of requests received. */
  requestCount = 0;
  /** Replaces the response, to inject a fault. */
  fault: ((path: string) => Response | Promise<Response> | undefined) | undefined;
  readonly #server: Bun.Server<undefined>;

  constructor() {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      fetch: ({ url }) => {
        this.requestCount++;
        return this.fault?.(new URL(url).pathname) ?? Response.json(this.keySet);
      },
    });
  }

  /** The published JWK Set. */
  get keySet(): { readonly keys: readonly unknown[] } {
    return { keys: [...this.otherKeys, ...this.keys.map(({ publicJwk }) => publicJwk)] };
  }

  /** Creates an issuer that trusts this provider, with an empty cache. */
  newIssuer(options: Partial<IssuerOptions> = {}): Issuer {
    const { issuer, audience, jwksUrl } = this;
    return new Issuer({ issuer, audience, jwksUrl, ownerClaim: "sub", ownerPrefix: "jwt:", ...options });
  }

  get jwksUrl(): string {
    return `${this.#server.url.origin}/keys`;
  }

  /** Signs a token that is valid for five minutes. `claims` replace its claims, or remove those that are `undefined`. */
  async token(
    claims: Record<string, unknown> = {},
    key = this.keys[0],
    header: Record<string, unknown> = {},
  ): Promise<string> {
    if (key === undefined) throw new Error("the provider has no key");
    const now = Math.floor(Date.now() / 1_000);
    const payload = {
      ...{ iss: this.issuer, aud: this.audience, sub: "ann", exp: now + 300 },
      scope: "openid plants:read plants:write",
      ...claims,
    };
    const defined = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
    return new SignJWT(defined).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey);
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }
}
