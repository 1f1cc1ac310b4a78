import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { mintSecret } from "../../src/domain/token.ts";
import { freePort, newFolder } from "../processes.ts";
import { copySeeded, PLANTS } from "../seed.ts";
import { ID } from "./exchange.ts";
import { type Exchanges, type Kind, launch } from "./server.ts";

export const PLANT_STORE = "Plant Store";
const MAIN = join(import.meta.dir, "../../src/main.ts");

/** Well formed, so that the store is asked, which does not know it. */
const UNKNOWN_TOKEN = mintSecret();
/** Its checksum is wrong. */
const MALFORMED_TOKEN = UNKNOWN_TOKEN.slice(0, -1) + (UNKNOWN_TOKEN.endsWith("0") ? "1" : "0");

/** The product as its README starts it. */
export const plantStore: Kind = {
  name: PLANT_STORE,
  role: "product",
  async start({ plants, cores, under = [] }) {
    const folder = newFolder();
    const path = join(folder.path, "plants.db");
    const token = await copySeeded(plants, path);
    const port = freePort();
    return launch({
      name: PLANT_STORE,
      role: "product",
      url: `http://127.0.0.1:${port}`,
      command: [...under, ...serveCommand(path, port)],
      exchanges: exchanges(token, plants),
      cores,
      folder,
    });
  },
};

/** What starts the product on a database. */
const serveCommand = (path: string, port: number): string[] => [
  process.execPath,
  MAIN,
  "serve",
  "--database",
  `sqlite:${path}`,
  "--port",
  String(port),
  "--admin-port",
  "off",
  // What a flood of wrong tokens costs is measured, not how it is turned away.
  "--failure-limit",
  "off",
];

/** The version in the report. */
export const plantStoreVersion = packageJson.version;

/** What is asked of the product; `plants` it begins with. */
export function exchanges(token: string, plants: number): Exchanges {
  const headers = { Authorization: `Bearer ${token}` };
  const [{ name, tag }] = PLANTS;
  const refused = (secret: string) => ({
    method: "GET" as const,
    path: "/plants?limit=20",
    headers: { Authorization: `Bearer ${secret}` },
    status: 401,
    isRight: (body: string) => JSON.parse(body).error === 40101,
  });
  const page = (path: string, length: number) => ({
    method: "GET" as const,
    path,
    headers,
    status: 200,
    isRight: (body: string) => JSON.parse(body).length === length,
  });
  return {
    create: {
      method: "POST",
      path: "/plants",
      headers: { ...headers, "Content-Type": "application/json" },
      body: `{"id":${ID},"name":"${name}","tag":"${tag}"}`,
      status: 200,
      isRight: (body) => Bun.deepEquals(JSON.parse(body), { name, tag }),
    },
    list: page("/plants?limit=20", Math.min(plants, 20)),
    listAll: page("/plants", plants),
    listAfter: { ...page(`/plants?limit=20&after=${ID}`, 20), isRight: (body) => JSON.parse(body).length <= 20 },
    delete: { method: "DELETE", path: `/plants/${ID}`, headers, status: 204, isRight: (body) => body === "" },
    unknownToken: refused(UNKNOWN_TOKEN),
    malformedToken: refused(MALFORMED_TOKEN),
  };
}
