import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { base64url, exportJWK } from "jose";
import { Api } from "../support/api.ts";
import { newKey, Provider, type SigningKey } from "../support/issuer.ts";
import { type Service, startService } from "../support/service.ts";

const provider = new Provider();
let service: Service;
let api: Api;
let key: SigningKey;

beforeAll(async () => {
  key = await newKey("first");
  provider.keys = [key];
  service = await startService({ issuer: provider.newIssuer() });
  api = await Api.of(service);
});
afterAll(() => Promise.all([service.stop(), provider.stop()]));

/** Longer request headers get a 431 from Bun. */
const MAX_HEADER_LENGTH = 15_000;

const encode = (text: string): string => base64url.encode(text);

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

/** JSON text, with values that JavaScript numbers, objects and stacks handle specially. */
const unusualJson: fc.Arbitrary<string> = fc.oneof(
  fc.json(),
  fc.constantFrom("null", "1", '""', "[]", "{}", "1e999", "-1e999", "1e308", "-0", "9007199254740993", "1e-400"),
  fc.constantFrom("", "{", "nul", '{"a":1}{', "\u0000", "\ud800"),
  fc.constantFrom('{"toString":1,"valueOf":1}', '{"__proto__":{"kid":"first"}}', '{"length":1e9}', '["b64","b64"]'),
  fc.integer({ min: 1, max: 200 }).map((depth) => nested(depth)),
);

const ALGORITHMS = ["ES256", "RS256", "PS512", "EdDSA", "HS256", "none", "ML-DSA-44", "dir", "toString", "__proto__"];
const name = fc.oneof(fc.constantFrom(...ALGORITHMS, "first", "b64", "exp", "JWT", ""), fc.string());
const unusualValue = fc.oneof(
  unusualJson,
  name.map((text) => JSON.stringify(text)),
  fc.array(name, { maxLength: 3 }).map((names) => JSON.stringify(names)),
);

/** Returns the text of a JSON object with some of the members of `base`, and unusual values for some of `names`. */
const unusualObject = (base: Record<string, unknown>, names: readonly string[]): fc.Arbitrary<string> =>
  fc.record(Object.fromEntries(names.map((each) => [each, unusualValue])), { requiredKeys: [] }).map((members) => {
    const texts = { ...Object.fromEntries(Object.entries(base).map(([n, v]) => [n, JSON.stringify(v)])), ...members };
    return `{${Object.entries(texts).map(([member, text]) => `${JSON.stringify(member)}:${text}`)}}`;
  });

const HEADERS = ["alg", "kid", "typ", "cty", "crit", "b64", "zip", "jwk", "x5c", "exp", "__proto__", "constructor"];
const CLAIMS = ["iss", "aud", "sub", "exp", "nbf", "iat", "scope", "scp", "__proto__", "toString"];

const unusualHeader = fc.oneof(unusualObject({ alg: "ES256", kid: "first" }, HEADERS), unusualJson);
const claims = () => ({
  ...{ iss: provider.issuer, aud: provider.audience, sub: "ann" },
  ...{ exp: Math.floor(Date.now() / 1_000) + 300, scope: "plants:read" },
});
const unusualPayload = fc.oneof(unusualObject(claims(), CLAIMS), unusualJson);

async function sign(header: string, payload: string): Promise<string> {
  const input = `${encode(header)}.${encode(payload)}`;
  const algorithm = { name: "ECDSA", hash: "SHA-256" };
  const signature = await crypto.subtle.sign(algorithm, key.privateKey, new TextEncoder().encode(input));
  return `${input}.${base64url.encode(new Uint8Array(signature))}`;
}

describe("a JWT", () => {
  it("gets 401 when its signature is invalid, whatever else it contains", async () => {
    const signature = fc.oneof(
      fc.uint8Array({ maxLength: 100 }).map((bytes) => base64url.encode(bytes)),
      fc.string({ maxLength: 20 }).map(encode),
    );
    await fc.assert(
      fc.asyncProperty(unusualHeader, unusualPayload, signature, async (header, payload, end) => {
        const token = `${encode(header)}.${encode(payload)}.${end}`;
        fc.pre(token.length < MAX_HEADER_LENGTH);
        expect((await api.list(token)).status).toBe(401);
      }),
      { numRuns: 500 },
    );
  }, 60_000);

  it("gets 200, 401 or 403 when its signature is valid, whatever else it contains", async () => {
    await fc.assert(
      fc.asyncProperty(unusualHeader, unusualPayload, async (header, payload) => {
        const token = await sign(header, payload);
        fc.pre(token.length < MAX_HEADER_LENGTH);
        expect([200, 401, 403]).toContain((await api.list(token)).status);
      }),
      { numRuns: 500 },
    );
  }, 60_000);

  it("gets 401 when its payload is not an object or its dates are not numbers, though its signature is valid", async () => {
    const header = JSON.stringify({ alg: "ES256", kid: "first" });
    const members = JSON.stringify(claims()).slice(1, -1);
    const payloads = [
      nested(2_500),
      ...["null", "1", '"text"', "[]", "", "{", `[{${members}}]`, `{${members}}x`],
      ...["exp", "nbf"].flatMap((claim) =>
        ["null", '"1e999"', "{}", "[9999999999]", "true"].map((value) => `{${members},"${claim}":${value}}`),
      ),
      ...["-1e999", "-1e308", "0", "-0", "1e-400"].map((value) => `{${members},"exp":${value}}`),
      ...["1e999", "1e308", "99999999999999999999"].map((value) => `{${members},"nbf":${value}}`),
    ];
    expect((await api.list(await sign(nested(2_500), "{}"))).status).toBe(401);
    for (const payload of payloads)
      expect([payload, (await api.list(await sign(header, payload))).status]).toEqual([payload, 401]);
    expect((await api.list(await sign(header, `{${members}}`))).status).toBe(200);
  });
});

describe("a key set with an unusable key", () => {
  let keys: SigningKey[];
  let unusable: [description: string, jwk: unknown][];

  beforeAll(async () => {
    keys = await Promise.all(["RS256", "ES256", "EdDSA"].map((alg) => newKey("same", alg)));
    const [rsa, ec, ed] = keys.map(({ publicJwk: { alg: _, ...jwk } }) => jwk);
    const privateJwks = await Promise.all(keys.map(({ privateKey }) => exportJWK(privateKey)));
    const parameters = { name: "RSASSA-PKCS1-v1_5", modulusLength: 1_024, hash: "SHA-256" };
    const short = await crypto.subtle.generateKey({ ...parameters, publicExponent: new Uint8Array([1, 0, 1]) }, true, [
      "sign",
      "verify",
    ]);
    unusable = [
      ["RSA with 1,024 bits", { ...(await exportJWK(short.publicKey)), kid: "same" }],
      ...[undefined, "", "!!!", 5, "AAAA"].map((n): [string, unknown] => [`RSA with n ${n}`, { ...rsa, n }]),
      ["RSA with e 0", { ...rsa, e: "" }],
      ["x5c only", { kty: "RSA", kid: "same", x5c: ["MIIB"] }],
      ["EC off the curve", { ...ec, y: ec?.["x"] }],
      ["EC of another curve", { ...ec, crv: "P-384" }],
      ["EC with an object as curve", { ...ec, crv: {} }],
      ["OKP with a short x", { ...ed, x: "AA" }],
      ["X25519", { ...ed, crv: "X25519" }],
      ...privateJwks.map((jwk): [string, unknown] => [`private ${jwk.kty}`, { ...jwk, kid: "same" }]),
      ["EC with a number as d", { ...ec, d: 5 }],
      ["oct", { kty: "oct", k: "AAAA", kid: "same" }],
      ["oct with alg RS256", { kty: "oct", k: "AAAA", kid: "same", alg: "RS256" }],
      ["other key_ops", { ...rsa, key_ops: ["verify", "sign"] }],
      ["key_ops that are a string", { ...rsa, key_ops: "verify" }],
      ["ext that is a string", { ...rsa, ext: "true" }],
      ["kty that is an object", { kty: {}, kid: "same" }],
      ...[null, 5, "key", [], {}].map((jwk): [string, unknown] => [JSON.stringify(jwk), jwk]),
    ];
  });

  const claim = () => ({ jti: crypto.randomUUID() });
  const tokens = () => Promise.all(keys.map((each) => provider.token(claim(), each)));
  const forgeries = () =>
    ["RS256", "PS384", "ES256", "ES384", "EdDSA"].map(
      (alg) =>
        `${encode(JSON.stringify({ alg, kid: "same" }))}.${encode(JSON.stringify(claims()))}.${"AAAA".repeat(20)}`,
    );

  it("gets 401 for tokens that name the unusable key", async () => {
    provider.keys = [];
    for (const [description, jwk] of unusable) {
      provider.otherKeys = [jwk];
      const issuer = provider.newIssuer();
      for (const token of forgeries())
        expect([description, await issuer.authenticate(token)]).toEqual([description, undefined]);
    }
  });

  it("verifies tokens with its other keys, even if they have the same kid", async () => {
    provider.keys = keys;
    for (const [description, jwk] of unusable) {
      provider.otherKeys = [jwk];
      const issuer = provider.newIssuer();
      for (const token of await tokens())
        expect([description, await issuer.authenticate(token)]).not.toContain(undefined);
      for (const token of forgeries())
        expect([description, await issuer.authenticate(token)]).toEqual([description, undefined]);
    }
  });

  it("verifies tokens with its other keys, whatever the unusable key contains", async () => {
    provider.keys = keys;
    const member = fc.oneof(fc.jsonValue(), fc.constantFrom("RSA", "EC", "OKP", "AKP", "oct", "P-256", "sig", "AQAB"));
    const members = ["kty", "use", "key_ops", "alg", "kid", "crv", "x", "y", "d", "n", "e", "k", "x5c", "ext", "pub"];
    const jwk = fc.oneof(
      fc.record(Object.fromEntries(members.map((each) => [each, member])), { requiredKeys: [] }),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(jwk, { maxLength: 5 }), async (others) => {
        provider.otherKeys = others;
        const issuer = provider.newIssuer();
        for (const token of await tokens()) expect(await issuer.authenticate(token)).toBeDefined();
        for (const token of forgeries()) expect(await issuer.authenticate(token)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  }, 60_000);
});
