import { afterAll, afterEach, beforeAll, describe, expect, it, mock, setSystemTime, spyOn } from "bun:test";
import { mintSecret, SCOPES } from "../../src/domain/token.ts";
import { Api, type Reply, type RequestOptions } from "../support/api.ts";
import { ENGINES } from "../support/engines.ts";
import { newOwner, type Service, startService } from "../support/service.ts";

const CHALLENGE = 'Bearer realm="plantstore"';
const JSON_TYPE = { "Content-Type": "application/json" };

const OPERATIONS: [operation: string, scope: string, method: string, path: string, options: RequestOptions][] = [
  ["create", "plants:write", "POST", "/plants", { headers: JSON_TYPE, body: '{"id":1,"name":"x"}' }],
  ["list", "plants:read", "GET", "/plants", {}],
  ["list with HEAD", "plants:read", "HEAD", "/plants", {}],
  ["delete", "plants:write", "DELETE", "/plants/5", {}],
];

/** Returns the parts of a reply that are the same for equal requests. */
const visible = ({ status, headers, text }: Reply) => {
  const { date: _date, "x-request-id": _requestId, ...rest } = Object.fromEntries(headers);
  return { status, rest, text };
};

const challengeOf = ({ status, headers, error }: Reply) => [status, error, headers.get("www-authenticate")];

describe.each(ENGINES)("on %s", (_, open) => {
  let service: Service;
  let api: Api;

  beforeAll(async () => {
    service = await startService({ open });
    api = await Api.of(service);
  });
  afterAll(() => service.stop());
  afterEach(() => {
    mock.restore();
    setSystemTime();
  });

  describe.each(OPERATIONS)("authorization of %s", (_operation, scope, method, path, options) => {
    const isHead = method === "HEAD";
    const send = (headers: Record<string, string> = {}) =>
      api.send(method, path, { ...options, headers: { ...options.headers, ...headers } });
    const rejection = (error: number, more = "") => [
      Math.floor(error / 100),
      isHead ? undefined : error,
      `${CHALLENGE}${more}`,
    ];

    it("returns 401 without an error code when there is no credential", async () => {
      expect(challengeOf(await send())).toEqual(rejection(40100));
    });

    it.each(["Basic YTpi", "Token plt_x", "Digest username=a", "BearerToken x", "Negotiate", ""])(
      "returns 401 without an error code for the credential %p",
      async (credential) => {
        expect(challengeOf(await send({ Authorization: credential }))).toEqual(rejection(40100));
      },
    );

    it("returns 401 when the token is in the query", async () => {
      const token = await service.token();
      const query = `?access_token=${token}&token=${token}&authorization=Bearer%20${token}`;
      expect(challengeOf(await api.send(method, path + query, options))).toEqual(rejection(40100));
    });

    it("returns 401 when the token is unknown", async () => {
      const lookUps = spyOn(service.storage, "selectToken");
      const reply = await send({ Authorization: `Bearer ${mintSecret()}` });
      expect(challengeOf(reply)).toEqual(rejection(40101, ', error="invalid_token"'));
      expect(lookUps).toHaveBeenCalledTimes(1);
    });

    it("returns 401 without a database lookup when the token is malformed", async () => {
      const token = await service.token();
      const last = token.endsWith("0") ? "1" : "0";
      const swapped = token.slice(0, 4) + [...token.slice(4, 34)].reverse().join("") + token.slice(34);
      const lookUps = spyOn(service.storage, "selectToken");
      for (const secret of [
        ...["", "x", "plt_", `plt_${"0".repeat(36)}`, "é", "a,b", "a=b"],
        ...[token.slice(0, -1) + last, swapped, `${token}0`, token.slice(0, -1), token.slice(4), token.toUpperCase()],
        ...[`${token} ${token}`, `"${token}"`, `${token},${token}`, `plt-${token.slice(4)}`],
      ]) {
        const reply = await send({ Authorization: `Bearer ${secret}` });
        expect(challengeOf(reply)).toEqual(rejection(40101, ', error="invalid_token"'));
      }
      expect(lookUps).not.toHaveBeenCalled();
    });

    it("returns 401 from the expiry time of the token", async () => {
      const expiresAt = Date.now() + 3_600_000;
      const Authorization = `Bearer ${await service.token({ expiresAt })}`;
      setSystemTime(new Date(expiresAt - 1));
      expect((await send({ Authorization })).status).toBeOneOf([200, 204, 404]);
      setSystemTime(new Date(expiresAt));
      expect(challengeOf(await send({ Authorization }))).toEqual(rejection(40101, ', error="invalid_token"'));
    });

    it("returns 401 within a second after the token is revoked", async () => {
      const token = await service.token();
      const Authorization = `Bearer ${token}`;
      expect((await send({ Authorization })).status).toBeOneOf([200, 204, 404]);
      await service.tokens.revoke(token);
      const revokedAtMs = performance.now();
      spyOn(performance, "now").mockReturnValue(revokedAtMs + 1_000);
      expect(challengeOf(await send({ Authorization }))).toEqual(rejection(40101, ', error="invalid_token"'));
    });

    it("returns 403 when the token lacks the scope", async () => {
      for (const scopes of [SCOPES.filter((each) => each !== scope), []]) {
        const reply = await send({ Authorization: `Bearer ${await service.token({ scopes })}` });
        expect(challengeOf(reply)).toEqual(rejection(40300, `, error="insufficient_scope", scope="${scope}"`));
      }
    });

    it.each(["Bearer", "bearer", "BEARER", "bEaReR", "Bearer  "])("accepts the scheme %p", async (scheme) => {
      const owner = newOwner();
      await service.storage.insertPlant(owner, { id: 5n, name: "x" }, undefined);
      const scopes = SCOPES.filter((each) => each === scope);
      const token = await service.token({ owner, scopes });
      expect((await send({ Authorization: `${scheme} ${token}` })).status).toBeOneOf([200, 204]);
    });
  });

  describe("authorization", () => {
    it.each<[string, (token: string) => string[]]>([
      ["the same token twice", (token) => [`Bearer ${token}`, `Bearer ${token}`]],
      ["a second scheme after it", (token) => [`Bearer ${token}`, "Basic YTpi"]],
      ["a second scheme before it", (token) => ["Basic YTpi", `Bearer ${token}`]],
      ["an unknown token before it", (token) => [`Bearer ${mintSecret()}`, `Bearer ${token}`]],
      ["a second word", (token) => [`Bearer ${token}`, "x"]],
      ["an empty header after it", (token) => [`Bearer ${token}`, ""]],
      ["an empty header before it", (token) => ["", `Bearer ${token}`]],
      ["two tokens in one header", (token) => [`Bearer ${token}, ${token}`]],
      ["three headers", (token) => [`Bearer ${token}`, `Bearer ${token}`, `Bearer ${token}`]],
    ])("returns 400 for more than one credential: %s", async (_description, credentials) => {
      const token = await service.token();
      const lines = credentials(token).map((each) => `Authorization: ${each}`);
      const reply = await api.sendRaw(
        ["GET /plants?limit=0 HTTP/1.1", "Host: x", "Connection: close", ...lines, "\r\n"].join("\r\n"),
      );
      expect(challengeOf(reply)).toEqual([400, 40009, `${CHALLENGE}, error="invalid_request"`]);
    });

    it.each<[string, string, string, RequestOptions]>([
      ["malformed JSON", "POST", "/plants", { headers: JSON_TYPE, body: "{" }],
      ["an invalid plant", "POST", "/plants", { headers: JSON_TYPE, body: '{"id":"x"}' }],
      ["another content type", "POST", "/plants", { headers: { "Content-Type": "text/plain" }, body: "x" }],
      ["a large body", "POST", "/plants", { headers: JSON_TYPE, body: "x".repeat(100_000) }],
      [
        "an invalid idempotency key",
        "POST",
        "/plants",
        { headers: { ...JSON_TYPE, "Idempotency-Key": "a b" }, body: "{}" },
      ],
      ["an invalid limit", "GET", "/plants?limit=0", {}],
      ["a repeated parameter", "GET", "/plants?tag=a&tag=b", {}],
      ["an invalid cursor", "GET", "/plants?after=x", {}],
      ["an invalid id", "DELETE", "/plants/abc", {}],
      ["an id out of range", "DELETE", "/plants/9223372036854775808", {}],
    ])("is checked before %s", async (_problem, method, path, options) => {
      const scopes = method === "GET" ? (["plants:write"] as const) : (["plants:read"] as const);
      const scopeless = await service.token({ scopes });
      expect((await api.send(method, path, options)).error).toBe(40100);
      expect((await api.send(method, path, { ...options, token: mintSecret() })).error).toBe(40101);
      expect((await api.send(method, path, { ...options, token: scopeless })).error).toBe(40300);
      expect((await api.send(method, path, { ...options, token: await service.token() })).status).toBe(400);
    });

    it("discloses nothing about a plant without a token", async () => {
      const token = await service.token();
      const before = visible(await api.send("DELETE", "/plants/5"));
      await api.create(token, { id: 5, name: "x" });
      expect(visible(await api.send("DELETE", "/plants/5"))).toEqual(before);
      expect(await api.ids(token)).toEqual(["5"]);
    });

    it("never discloses that another owner has a plant", async () => {
      const [mine, theirs] = [await service.token(), await service.token()];
      const observe = async () => [
        visible(await api.delete(mine, 5)),
        visible(await api.list(mine)),
        visible(await api.list(mine, "?tag=secret&limit=1&after=4")),
        visible(await api.create(mine, { id: 5, name: "mine" }, { "Idempotency-Key": "k" })),
        visible(await api.create(mine, { id: 5, name: "other" })),
        visible(await api.list(mine, "?fields=id,name,tag&limit=1")),
        visible(await api.delete(mine, 5)),
        visible(await api.delete(mine, 5)),
      ];
      const before = await observe();
      expect(before.map(({ status }) => status)).toEqual([404, 200, 200, 200, 400, 200, 204, 404]);
      await api.create(theirs, { id: 5, name: "theirs", tag: "secret" }, { "Idempotency-Key": "k" });
      await api.create(theirs, { id: 6, name: "theirs", tag: "secret" });
      expect(await observe()).toEqual(before);
      expect((await api.list(theirs, "?fields=id,tag")).text).toBe('[{"id":5,"tag":"secret"},{"id":6,"tag":"secret"}]');
    });

    it("gives all tokens of an owner access to the same plants", async () => {
      const owner = newOwner();
      const [reader, writer] = [
        await service.token({ owner, scopes: ["plants:read"] }),
        await service.token({ owner, scopes: ["plants:write"] }),
      ];
      await api.create(writer, { id: 5, name: "x" });
      expect(await api.ids(reader)).toEqual(["5"]);
      expect((await api.delete(writer, 5)).status).toBe(204);
      expect(await api.ids(reader)).toEqual([]);
    });

    it("separates owners whose names differ only in case, white space or Unicode normalization", async () => {
      const base = newOwner();
      const owners = [base, base.toUpperCase(), `${base} `, `${base}\u00e9`, `${base}e\u0301`, `${base}%`];
      const tokens = await Promise.all(owners.map((owner) => service.token({ owner })));
      for (const [id, token] of tokens.entries()) await api.create(token, { id, name: "x" });
      for (const [id, token] of tokens.entries()) expect(await api.ids(token)).toEqual([String(id)]);
    });
  });
});
