import { Database } from "bun:sqlite";
import { join } from "node:path";
import { installPackages, packageVersion } from "../install.ts";
import { freePort, newFolder } from "../processes.ts";
import { insertPlants, OWNER } from "../seed.ts";
import { exchanges } from "../servers/plant-store.ts";
import { launch } from "../servers/server.ts";
import { type Peer, peerFolder } from "./peer.ts";

const FOLDER = peerFolder("fastify");
const NAME = "Fastify";
const TOKEN = crypto.randomUUID();

/** A hand-written service on Fastify and better-sqlite3, with the measured part of the contract. */
export const fastify: Peer = {
  name: NAME,
  role: "peer",
  version: `${packageVersion(FOLDER, "fastify")} with better-sqlite3 ${packageVersion(FOLDER, "better-sqlite3")}`,
  durability: "on disk: SQLite in WAL mode, synchronous=FULL, one commit per create",
  async start({ plants, cores }) {
    installPackages(FOLDER);
    const folder = newFolder();
    const port = freePort();
    const path = join(folder.path, "plants.db");
    const server = await launch({
      name: NAME,
      role: "peer",
      url: `http://127.0.0.1:${port}`,
      command: ["node", join(FOLDER, "server.js"), path, String(port)],
      env: { NODE_ENV: "production", TOKEN, OWNER },
      exchanges: exchanges(TOKEN, 0),
      cores,
      folder,
    });
    using db = new Database(path);
    insertPlants(db, plants, "plants", { owner: `'${OWNER}'`, id: "id", name: "name", tag: "tag" });
    const { listAll, listAfter, ...supported } = exchanges(TOKEN, plants);
    return { ...server, exchanges: supported };
  },
};
