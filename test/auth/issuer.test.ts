import { afterAll, afterEach, beforeAll, describe, expect, it, mock, setSystemTime, spyOn } from "bun:test";
import { base64url, CompactEncrypt, exportSPKI, importJWK, type JWTPayload, SignJWT } from "jose";
import { Api } from "../support/api.ts";
import { advanceableClock } from "../support/clock.ts";
import { newKey, Provider, type SigningKey } from "../support/issuer.ts";
import { createToken, run, startServerProcess } from "../support/program.ts";
import { type Service, startService, temporaryFolder } from "../support/service.ts";

const provider = new Provider();
const clock = advanceableClock();
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
afterEach(() => {
  mock.restore();
  setSystemTime();
  provider.keys = [key];
});

const statusOf = async (token: string): Promise<number> => (await api.list(token)).status;
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;

describe("a token of the identity provider", () => {
  it.each(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"])(
    "is accepted when it is signed with %s",
    async (alg) => {
      const other = await newKey(alg, alg);
      provider.keys = [key, other];
      clock.advance(1_000);
      expect(await statusOf(await provider.token({}, other))).toBe(200);
    },
  );

  it("acts for an owner with the configured prefix, which only tokens for exactly that name share", async () => {
    const [ann, jwtAnn] = [await service.token({ owner: "ann" }), await service.token({ owner: "jwt:ann" })];
    const token = await provider.token({ sub: "ann" });
    expect((await api.create(token, { id: 7, name: "Iris" })).status).toBe(200);
    expect([await api.ids(token), await api.ids(jwtAnn), await api.ids(ann)]).toEqual([["7"], ["7"], []]);
    expect(await api.ids(await provider.token({ sub: "bob" }))).toEqual([]);
    expect((await api.delete(token, 7)).status).toBe(204);
  });

  it("acts for the owner in the configured claim", async () => {
    const issuer = provider.newIssuer({ ownerClaim: "https://example.org/team", ownerPrefix: "" });
    const token = await provider.token({ "https://example.org/team": "garden" });
    expect(await issuer.authenticate(token)).toMatchObject({ owner: "garden" });
    expect(await issuer.authenticate(await provider.token())).toBeUndefined();
  });

  const SCOPES: [claims: Record<string, unknown>, read: number, write: number][] = [
    [{ scope: "plants:read" }, 200, 403],
    [{ scope: "plants:write" }, 403, 400],
    [{ scope: undefined, scp: "openid plants:read" }, 200, 403],
    [{ scope: undefined, scp: ["plants:read", "plants:write"] }, 200, 400],
    [{ scope: undefined }, 403, 403],
    [{ scope: "" }, 403, 403],
    [{ scope: "openid plants:* plants: PLANTS:READ plants:readplants:write" }, 403, 403],
    [{ scope: "plants:read,plants:write" }, 403, 403],
    [{ scope: ["plants:read plants:write"] as never }, 403, 403],
    [{ scope: { "plants:read": true } as never, scp: ["plants:read"] }, 403, 403],
    [{ scope: undefined, scopes: "plants:read", roles: ["plants:write"] }, 403, 403],
    [{ scope: { toString: 1, valueOf: 1 } as never }, 403, 403],
  ];
  it.each(SCOPES)("has only the scopes that its claims contain: %p", async (claims, read, write) => {
    const token = await provider.token(claims);
    expect([(await api.list(token)).status, (await api.create(token, {})).status]).toEqual([read, write]);
  });

  it("is accepted with several audiences, and within the tolerated clock skew", async () => {
    for (const claims of [{ aud: ["shop", "plants"] }, { exp: inSeconds(-5) }, { nbf: inSeconds(5) }])
      expect(await statusOf(await provider.token(claims))).toBe(200);
  });

  it.each<[description: string, claims: () => Record<string, unknown>]>([
    ["has expired", () => ({ exp: inSeconds(-15) })],
    ["never expires", () => ({ exp: undefined })],
    ["has an expiry that is not a number", () => ({ exp: "tomorrow" as never })],
    ["is not valid yet", () => ({ nbf: inSeconds(15) })],
    ["has another issuer", () => ({ iss: "https://id.example" })],
    ["has no issuer", () => ({ iss: undefined })],
    ["has several issuers", () => ({ iss: ["https://id.example/"] as never })],
    ["has another audience", () => ({ aud: "shop" })],
    ["has several other audiences", () => ({ aud: ["shop", "plants2", "PLANTS"] })],
    ["has no audience", () => ({ aud: undefined })],
    ["has no owner", () => ({ sub: undefined })],
    ["has an empty owner", () => ({ sub: "" })],
    ["has a number as owner", () => ({ sub: 5 as never })],
    ["has several owners", () => ({ sub: ["ann"] as never })],
    ["has an owner with a control character", () => ({ sub: "ann\u0000" })],
    ["has an owner that is too long", () => ({ sub: "x".repeat(252) })],
  ])("is rejected when it %s", async (_description, claims) => {
    expect((await api.list(await provider.token(claims()))).error).toBe(40101);
  });

  it("is rejected when it is longer than 8,192 characters", async () => {
    const padded = async (length: number) => provider.token({ padding: "x".repeat(length) });
    const rest = (await padded(0)).length;
    const long = await padded(Math.floor(((8_192 - rest) * 3) / 4) - 3);
    expect([long.length <= 8_192, await statusOf(long)]).toEqual([true, 200]);
    const tooLong = await padded(Math.ceil(((8_192 - rest) * 3) / 4) + 3);
    expect([tooLong.length > 8_192, await statusOf(tooLong)]).toEqual([true, 401]);
  });
});

describe("a forged token", () => {
  const encode = (value: unknown): string => base64url.encode(JSON.stringify(value));
  const split = async (): Promise<[string, string, string]> =>
    (await provider.token()).split(".") as [string, string, string];
  const publicKeys = async (): Promise<Uint8Array[]> => {
    const spki = await exportSPKI(
      (await importJWK(key.publicJwk as never, key.alg, { extractable: true })) as CryptoKey,
    );
    const texts = [spki, spki.trim(), JSON.stringify(key.publicJwk), String(key.publicJwk["x"])];
    return texts.map((text) => new TextEncoder().encode(text));
  };

  it("is rejected when its algorithm is not accepted, even if the provider publishes the key", async () => {
    const other = await newKey("other", "ML-DSA-44");
    provider.keys = [key, other];
    clock.advance(1_000);
    expect(await statusOf(await provider.token({}, other))).toBe(401);
  });

  const FORGERIES: [description: string, forge: () => Promise<string[]>][] = [
    [
      "is not signed",
      async () => {
        const [, payload, signature] = await split();
        return ["none", "None", "NONE", "", undefined].flatMap((alg) => [
          `${encode({ alg })}.${payload}.`,
          `${encode({ alg, kid: "first" })}.${payload}.${signature}`,
        ]);
      },
    ],
    [
      "is signed with the public key as a secret",
      async () => {
        const claims = JSON.parse(new TextDecoder().decode(base64url.decode((await split())[1]))) as JWTPayload;
        const secrets = await publicKeys();
        return Promise.all(
          secrets.flatMap((secret) =>
            ["HS256", "HS384", "HS512"].map((alg) =>
              new SignJWT(claims)
                .setProtectedHeader({ alg, kid: "first" })
                .sign(Buffer.concat([secret, Buffer.alloc(64)])),
            ),
          ),
        );
      },
    ],
    [
      "is signed with the forger's key, with any reference to that key",
      async () => {
        const own = await newKey("first");
        const jwksUrl = provider.jwksUrl;
        const headers = [
          {},
          { jwk: own.publicJwk },
          { jku: jwksUrl },
          { x5u: jwksUrl },
          { kid: "../keys" },
          { kid: "" },
        ];
        return Promise.all(headers.map((header) => provider.token({}, own, header)));
      },
    ],
    [
      "names another algorithm",
      async () => {
        const [, payload, signature] = await split();
        return ["ES384", "RS256", "EdDSA", "es256"].map(
          (alg) => `${encode({ alg, kid: "first" })}.${payload}.${signature}`,
        );
      },
    ],
    [
      "has a changed payload",
      async () => {
        const [header, , signature] = await split();
        const payload = encode({
          iss: provider.issuer,
          aud: "plants",
          sub: "root",
          exp: inSeconds(99),
          scope: "plants:read",
        });
        return [`${header}.${payload}.${signature}`];
      },
    ],
    [
      "has an unknown critical header",
      async () => [
        await new SignJWT({ iss: provider.issuer, aud: "plants", sub: "ann", exp: inSeconds(99), scope: "plants:read" })
          .setProtectedHeader({ alg: "ES256", kid: "first", crit: ["exp"], exp: 1 } as never)
          .sign(key.privateKey, { crit: { exp: true } }),
      ],
    ],
    [
      "is encrypted",
      async () => [
        await new CompactEncrypt(new TextEncoder().encode(await provider.token()))
          .setProtectedHeader({ alg: "dir", enc: "A256GCM", cty: "JWT" })
          .encrypt(new Uint8Array(32)),
      ],
    ],
    [
      "has a missing or an additional part",
      async () => {
        const [header, payload, signature] = await split();
        const parts = [`${header}.${payload}`, `${header}..${signature}`, `.${payload}.${signature}`, "..", "."];
        return [...parts, `${header}.${payload}.${signature}.`, `${header}.${payload}.${signature}.x`];
      },
    ],
  ];

  it.each(FORGERIES)("is rejected when it %s", async (_description, forge) => {
    for (const token of await forge()) expect([token, (await api.list(token)).error]).toEqual([token, 40101]);
  });

  it("is rejected when any one character is changed", async () => {
    const token = await provider.token();
    const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (let index = 0; index < token.length; index++) {
      const other = characters[(characters.indexOf(token.charAt(index)) + 32) % 64];
      const forged = token.slice(0, index) + other + token.slice(index + 1);
      expect([index, await statusOf(forged)]).toEqual([index, 401]);
    }
  });

  it("is rejected when it contains a character outside base64url at any index", async () => {
    const issuer = provider.newIssuer();
    const token = await provider.token();
    expect(await issuer.authenticate(token)).toBeDefined();
    for (const character of [
      " ",
      "\t",
      "\n",
      "\r",
      "\f",
      "\u00a0",
      "\u0000",
      "=",
      "+",
      "/",
      "%",
      "\u00e9",
      "\u{1f331}",
    ]) {
      for (let index = 0; index <= token.length; index++) {
        const forged = token.slice(0, index) + character + token.slice(index);
        expect([index, character, await issuer.authenticate(forged)]).toEqual([index, character, undefined]);
      }
    }
  });

  it("is rejected when a part has a non-canonical encoding: padding or unused bits", async () => {
    const issuer = provider.newIssuer();
    const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (const padding of ["", "x", "xx"]) {
      const parts = (await provider.token({ padding }, key, { typ: padding })).split(".");
      expect(await issuer.authenticate(parts.join("."))).toBeDefined();
      for (const [index, part] of parts.entries()) {
        const last = characters.indexOf(part.slice(-1));
        const others = [`${part}=`, `${part}==`, `${part.slice(0, -1)}${characters[last ^ 1]}`];
        for (const other of others)
          expect([other, await issuer.authenticate(parts.with(index, other).join("."))]).toEqual([other, undefined]);
      }
    }
  });
});

describe("a verified token", () => {
  it("is cached for a minute, but not after it expires", async () => {
    const issuer = provider.newIssuer();
    const verify = spyOn(crypto.subtle, "verify");
    const [short, long] = [await provider.token({ exp: inSeconds(20) }), await provider.token()];
    for (const token of [short, long]) expect(await issuer.authenticate(token)).toBeDefined();
    const count = verify.mock.calls.length;
    const startMs = Date.now();
    setSystemTime(new Date(startMs + 18_000));
    for (const token of [short, long])
      expect(issuer.authenticate(token)).toEqual({ owner: "jwt:ann", scopes: ["plants:read", "plants:write"] });
    expect(verify).toHaveBeenCalledTimes(count);
    setSystemTime(new Date(startMs + 31_000));
    expect(await issuer.authenticate(short)).toBeUndefined();
    clock.advance(61_000);
    expect(await issuer.authenticate(long)).toBeDefined();
    expect(verify).toHaveBeenCalledTimes(count + 2);
  });

  it("stays expired when the clock is set back, cached or not", async () => {
    const issuer = provider.newIssuer();
    const [seen, unseen] = [await provider.token({ exp: inSeconds(60) }), await provider.token({ exp: inSeconds(61) })];
    expect(await issuer.authenticate(seen)).toBeDefined();
    const startMs = Date.now();
    setSystemTime(new Date(startMs + 3_600_000));
    expect(await issuer.authenticate(seen)).toBeUndefined();
    setSystemTime(new Date(startMs));
    for (const token of [seen, unseen]) expect(await issuer.authenticate(token)).toBeUndefined();
  });

  it("is verified again after a minute when the clock is set back", async () => {
    const issuer = provider.newIssuer();
    const verify = spyOn(crypto.subtle, "verify");
    const token = await provider.token();
    await issuer.authenticate(token);
    const count = verify.mock.calls.length;
    setSystemTime(new Date(Date.now() - 86_400_000));
    clock.advance(61_000);
    expect(await issuer.authenticate(token)).toBeDefined();
    expect(verify).toHaveBeenCalledTimes(count + 1);
  });

  it("is evicted and verified again when the cache exceeds its limit", async () => {
    const issuer = provider.newIssuer();
    const first = await provider.token();
    await issuer.authenticate(first);
    for (let n = 0; n < 4_300; n++) {
      await issuer.authenticate(await provider.token({ jti: String(n), padding: "x".repeat(5_700) }));
    }
    expect(issuer.authenticate(first)).toBeInstanceOf(Promise);
  }, 60_000);
});

describe("serve with an identity provider", () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  const database = `sqlite:${folder.path}/plants.db`;
  const settings = () => ["--issuer", provider.issuer, "--audience", provider.audience, "--jwks-url", provider.jwksUrl];

  it("accepts both kinds of tokens, and logs neither", async () => {
    const own = await createToken(database, "ann");
    const limit = ["--rate-limit", "3/h", "--log", "requests"];
    const server = await startServerProcess(["--database", database, ...settings(), ...limit]);
    const list = async (token: string, path = "/plants") =>
      (await fetch(server.url + path, { headers: { Authorization: `Bearer ${token}`, "X-Request-Id": token } })).status;
    const [one, two] = [await provider.token({ jti: "1" }), await provider.token({ jti: "2" })];
    expect([await list(own), await list(one), await list(two), await list(one, `/plants?x=${one}`)]).toEqual([
      200, 200, 200, 200,
    ]);
    // Tokens of one owner share a quota, because they are replaced every few minutes.
    expect([await list(two), await list(own), await list(one, `/${one}`)]).toEqual([429, 200, 404]);
    await server.stop();
    const log = JSON.stringify(server.log());
    expect(
      one
        .split(".")
        .concat(own)
        .filter((part) => log.includes(part)),
    ).toEqual([]);
  });

  it.each(["--issuer", "--audience", "--jwks-url"])("exits with 2 when %s is missing", async (flag) => {
    const all = settings();
    all.splice(all.indexOf(flag), 2);
    const { exitCode, stderr } = await run(["serve", "--database", database, ...all]);
    expect([exitCode, stderr]).toEqual([2, "plantstore: --issuer, --audience, and --jwks-url must be set together\n"]);
  });
});
