import { afterAll, describe, expect, it } from "bun:test";
import { digestSecret, mintSecret, SCOPES } from "../../src/domain/token.ts";
import { Api, exchange } from "../support/api.ts";
import { ConnectionPool } from "../support/connection.ts";
import { createToken, run, startServerProcess } from "../support/program.ts";
import { newOwner, startService, temporaryFolder } from "../support/service.ts";

const TIMEOUT_MS = 120_000;
const COUNT = 100_000;
const CLIENTS = 16;
const PLANT = '{"id":1,"name":"Clarkia"}';
const REQUESTS = [
  ["GET", "/plants", undefined],
  ["POST", "/plants", PLANT],
  ["DELETE", "/plants/1", undefined],
] as const;

const folder = temporaryFolder();
const service = await startService();
const api = await Api.of(service);
afterAll(async () => {
  await service.stop();
  folder.remove();
});

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE64URL = `${ALPHABET}-_`;
const below = (end: number): number => Math.floor(Math.random() * end);
const anyOf = (characters: string): string => characters.charAt(below(characters.length));
const word = (characters: string, length: number): string => Array.from({ length }, () => anyOf(characters)).join("");
const visible = word.bind(undefined, String.fromCharCode(...Array.from({ length: 94 }, (_, n) => 0x21 + n)));

/** Replaces the character at an index of a token. */
const changed = (token: string, index: number, replace: (character: string) => string): string =>
  token.slice(0, index) + replace(token.charAt(index)) + token.slice(index + 1);
const otherThan = (character: string): string => anyOf(ALPHABET.replace(character, ""));

/** Ways to derive an invalid token, most of them close to a valid one. None can result in a valid token. */
const MUTATIONS: ((valid: string, other: string) => string)[] = [
  () => mintSecret(),
  () => `plt_${word(ALPHABET, 36)}`,
  (valid) => changed(valid, 4 + below(36), otherThan),
  (valid) => changed(changed(valid, 4 + below(15), otherThan), 19 + below(15), otherThan),
  (valid) => changed(valid, below(4), () => anyOf("abcdefgh")),
  (valid) => valid.slice(0, below(40)),
  (valid) => valid.slice(1 + below(39)),
  (valid) => valid + word(ALPHABET, 1 + below(40)),
  (valid) => word(ALPHABET, 1 + below(9)) + valid,
  (valid) => valid + valid,
  (valid, other) => valid.slice(0, 22) + other.slice(22),
  (valid, other) => valid.slice(0, 34) + other.slice(34),
  (valid) => `plt_${[...valid.slice(4)].reverse().join("")}`,
  (valid) => (below(2) === 0 ? valid.toUpperCase() : valid.toLowerCase()),
  (valid) => changed(valid, 3, (character) => encodeURIComponent(character) + anyOf("%-. ")),
  (valid) => `"${valid}"`,
  (valid) => btoa(valid),
  (valid) => btoa(`default:${valid}`),
  (valid) => digestSecret(valid),
  (valid) => digestSecret(valid).slice(0, 12),
  (valid) => `${valid}' OR '1'='1`,
  (valid) => `${valid}%00`,
  (valid) => `${valid},${valid}`,
  (valid) => [0, 0, 0].map(() => `ey${word(BASE64URL, 20)}`).join(".") + valid,
  () => `${btoa('{"alg":"none"}')}.${btoa('{"sub":"default","scope":"plants:read plants:write"}')}.`,
  () => visible(1 + below(60)),
  () => word("\x80\x9f\xa0\xe9\xff", 1 + below(40)),
];

describe("an invalid token", () => {
  it(
    "gets 400 or 401, changes nothing and is not logged (100,000 tokens)",
    async () => {
      const database = `sqlite:${folder.path}/plants.db`;
      const valid = await Promise.all([1, 2, 3].map((n) => createToken(database, `owner ${n}`)));
      const [revoked = "", other = ""] = valid;
      const server = await startServerProcess(["--database", database, "--log", "requests", "--failure-limit", "off"]);
      const headers = { Authorization: `Bearer ${other}`, "Content-Type": "application/json" };
      expect((await fetch(`${server.url}/plants`, { method: "POST", headers, body: PLANT })).status).toBe(200);
      expect((await run(["token", "revoke", revoked, "--database", database])).exitCode).toBe(0);

      const invalid = Array.from({ length: COUNT }, (_, n) => {
        const mutate = MUTATIONS[n % MUTATIONS.length] ?? mintSecret;
        return n % 1_000 === 0 ? revoked : mutate(valid[below(3)] ?? "", mintSecret());
      }).filter((token) => !valid.slice(1).includes(token));
      expect(invalid.length).toBeGreaterThan(COUNT - 100);
      const connections = new ConnectionPool(server.url);
      const statuses = new Map<number, number>();
      const send = async (token: string, n: number) => {
        const [method, path, body] = REQUESTS[n % REQUESTS.length] as (typeof REQUESTS)[number];
        const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
        const { status } = await connections.send({ method, path, headers, ...(body === undefined ? {} : { body }) });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      };
      for (let start = 0; start < invalid.length; start += CLIENTS) {
        await Promise.all(invalid.slice(start, start + CLIENTS).map((token, n) => send(token, start + n)));
      }
      connections.close();
      expect([...statuses.keys()].sort()).toEqual([400, 401]);
      expect((statuses.get(400) ?? 0) + (statuses.get(401) ?? 0)).toBe(invalid.length);
      expect(await (await fetch(`${server.url}/plants?fields=id,name`, { headers })).text()).toBe(`[${PLANT}]`);

      await server.stop();
      const lines = server.log();
      expect(lines.filter(({ status }) => status === 401 || status === 400)).toHaveLength(invalid.length);
      const words = new Set(lines.flatMap((line) => JSON.stringify(line).split(/[^\w%.=~-]+/)));
      expect(invalid.filter((token) => token.length >= 8 && words.has(token))).toEqual([]);
      expect(JSON.stringify(lines)).not.toMatch(/plt_/i);
    },
    TIMEOUT_MS,
  );
});

describe("an owner's plants", () => {
  const SCOPE_SETS = [[], ["plants:read"], ["plants:write"], SCOPES] as const;
  const OPERATIONS = {
    list: { scope: "plants:read", send: (token: string) => api.list(token, "?fields=id,name"), status: 200 },
    create: { scope: "plants:write", send: (token: string) => api.create(token, { id: 2, name: "new" }), status: 200 },
    "create again": {
      scope: "plants:write",
      send: (token: string) => api.create(token, { id: 1, name: "other" }),
      status: 400,
    },
    delete: { scope: "plants:write", send: (token: string) => api.delete(token, 1), status: 204 },
  } as const;

  for (const [name, { scope, send, status }] of Object.entries(OPERATIONS)) {
    for (const scopes of SCOPE_SETS) {
      const isAllowed = scopes.some((each) => each === scope);
      it(`${isAllowed ? "allow" : "reject"} ${name} with the scopes [${scopes}], without effect on other owners`, async () => {
        const owners = [newOwner(), newOwner()];
        const plantsOf = (owner = "") => service.storage.selectPlants(owner, { limit: 9 });
        for (const owner of owners) await service.storage.insertPlant(owner, { id: 1n, name: owner }, undefined);
        const [mine = "", theirs = ""] = owners;
        const before = await plantsOf(mine);
        const reply = await send(await service.token({ owner: mine, scopes }));
        expect([reply.status, reply.error]).toEqual([
          isAllowed ? status : 403,
          reply.status === 403 ? 40300 : reply.error,
        ]);
        expect(reply.text).not.toContain(theirs);
        const isChanged = isAllowed && ["create", "delete"].includes(name);
        expect(Bun.deepEquals(await plantsOf(mine), before)).toBe(!isChanged);
        expect(await plantsOf(theirs)).toEqual([{ id: 1n, name: theirs }]);
      });
    }
  }

  it("are indistinguishable to the byte from nonexistent ones for other owners", async () => {
    const [mine, theirs] = [await service.token(), await service.token()];
    const bytes = async (method: string, path: string) => {
      const lines = [`${method} ${path} HTTP/1.1`, "Host: x", "Connection: close", "X-Request-Id: same"];
      const response = await exchange(service.port, [...lines, `Authorization: Bearer ${mine}`, "\r\n"].join("\r\n"));
      return response.replace(/\r\nDate: [^\r]*/i, "");
    };
    const observe = async () => [
      await bytes("DELETE", "/plants/7"),
      await bytes("GET", "/plants"),
      await bytes("GET", "/plants?after=6&limit=1&fields=id,name,tag"),
      await bytes("HEAD", "/plants?tag=secret"),
    ];
    const before = await observe();
    expect(before[0]).toStartWith("HTTP/1.1 404 ");
    await api.create(theirs, { id: 7, name: "theirs", tag: "secret" });
    expect(await observe()).toEqual(before);
  });
});
