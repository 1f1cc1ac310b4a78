import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { installPackages, packageVersion } from "../install.ts";
import { freePort, newFolder } from "../processes.ts";
import { PLANTS, seedPlant } from "../seed.ts";
import { ID } from "../servers/exchange.ts";
import { launch } from "../servers/server.ts";
import { type Peer, peerFolder } from "./peer.ts";

const FOLDER = peerFolder("json-server");
const NAME = "json-server";
const [{ name, tag }] = PLANTS;

/** json-server: a REST API on one JSON file, without authentication. */
export const jsonServer: Peer = {
  name: NAME,
  role: "peer",
  version: packageVersion(FOLDER, "json-server"),
  durability: "written without fsync: the whole file is rewritten for each create; no tokens",
  async start({ plants, cores }) {
    installPackages(FOLDER);
    const folder = newFolder();
    const port = freePort();
    const path = join(folder.path, "db.json");
    writeFileSync(path, JSON.stringify({ plants: Array.from({ length: plants }, (_, index) => seedPlant(index)) }));
    return launch({
      name: NAME,
      role: "peer",
      url: `http://127.0.0.1:${port}`,
      command: ["node", join(FOLDER, "node_modules/json-server/lib/cli/bin.js")].concat([
        ...["--quiet", "--host", "127.0.0.1", "--port", String(port), path],
      ]),
      env: { NODE_ENV: "production" },
      exchanges: {
        create: {
          method: "POST",
          path: "/plants",
          headers: { "Content-Type": "application/json" },
          body: `{"id":${ID},"name":"${name}","tag":"${tag}"}`,
          status: 201,
          isExpected: (body) => JSON.parse(body).name === name,
        },
        list: {
          method: "GET",
          path: "/plants?_limit=20&_sort=id",
          headers: {},
          status: 200,
          isExpected: (body) => JSON.parse(body).length === Math.min(plants, 20),
        },
      },
      cores,
      folder,
    });
  },
};
