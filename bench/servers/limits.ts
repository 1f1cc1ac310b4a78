import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, newFolder } from "../processes.ts";
import { type Answer, probe } from "./exchange.ts";
import { type Exchanges, type Kind, launch, type Server } from "./server.ts";

export const NGINX = "nginx";
const BARE_BUN = "bare Bun.serve";

/** Which requests a constant is to be made for. */
export type ExchangeName = keyof Exchanges;

/** Headers that every server writes for itself. */
const OWN_HEADERS = new Set(["date", "content-length", "connection", "transfer-encoding", "content-type"]);
/** A text in nginx's configuration may have 4,096 bytes; a longer answer is a file. */
const MAX_TEXT_BYTES = 4_000;

/** What `like` answered, by method. At most one exchange has each method. */
type Answers = ReadonlyMap<string, Answer>;

/** nginx that answers each request with the bytes that `like` answers it with, as constants. */
export const nginxLike = (like: Server, names: readonly ExchangeName[]): Kind => ({
  name: NGINX,
  role: "limit",
  async start({ cores }) {
    if (Bun.which("nginx") === null) throw new Error("apt-get install nginx-light");
    const folder = newFolder();
    const port = freePort();
    const config = join(folder.path, "nginx.conf");
    const workers = cores === "0,1" ? 2 : 1;
    const answers = await answersOf(like, names);
    writeFileSync(config, nginxConfig(folder.path, port, workers, answers));
    return launch({
      name: NGINX,
      role: "limit",
      url: `http://127.0.0.1:${port}`,
      command: ["nginx", "-c", config, "-e", "stderr"],
      exchanges: pick(like.exchanges, names),
      cores,
      folder,
    });
  },
});

/** The most that this runtime can do: a bare `Bun.serve` that answers the same constants. */
export const bareBunLike = (like: Server, names: readonly ExchangeName[]): Kind => ({
  name: BARE_BUN,
  role: "limit",
  async start({ cores }) {
    const port = freePort();
    const answers = await answersOf(like, names);
    return launch({
      name: BARE_BUN,
      role: "limit",
      url: `http://127.0.0.1:${port}`,
      command: [process.execPath, join(import.meta.dir, "bare-bun.ts"), String(port)],
      env: { ANSWERS: JSON.stringify([...answers]) },
      exchanges: pick(like.exchanges, names),
      cores,
      folder: newFolder(),
    });
  },
});

async function answersOf(like: Server, names: readonly ExchangeName[]): Promise<Answers> {
  const answers = new Map<string, Answer>();
  for (const exchange of Object.values(pick(like.exchanges, names))) {
    answers.set(exchange.method, await probe(like.url, exchange));
  }
  return answers;
}

const pick = (exchanges: Exchanges, names: readonly ExchangeName[]): Exchanges =>
  Object.fromEntries(names.map((name) => [name, exchanges[name]]));

function nginxConfig(folder: string, port: number, workers: number, answers: Answers): string {
  const [[, first], ...others] = [...answers] as [[string, Answer], ...[string, Answer][]];
  const longer = first.body.length > MAX_TEXT_BYTES;
  mkdirSync(join(folder, "files"));
  if (longer) writeFileSync(join(folder, "files/plants"), first.body);
  return `
daemon off;
worker_processes ${workers};
pid ${folder}/nginx.pid;
error_log stderr crit;
${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections 4096; }
http {
  access_log off;
  server_tokens off;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=10;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  default_type application/json;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ")}
  server {
    listen 127.0.0.1:${port} backlog=4096${workers > 1 ? " reuseport" : ""};
    location / {
      ${others.map(([method, answer]) => `if ($request_method = ${method}) { ${nginxReturn(answer)} }`).join("\n      ")}
      ${longer ? `root ${folder}/files; ${nginxHeaders(first)}` : nginxReturn(first)}
    }
  }
}
`;
}

const nginxReturn = (answer: Answer): string =>
  `${nginxHeaders(answer)} return ${answer.status}${answer.body === "" ? "" : ` '${answer.body.replaceAll("'", "\\'")}'`};`;

const nginxHeaders = ({ headers }: Answer): string =>
  Object.entries(headers)
    .filter(([name]) => !OWN_HEADERS.has(name))
    .map(([name, value]) => `add_header ${titleCase(name)} '${value}' always;`)
    .join(" ");

/** As servers write header names. */
const titleCase = (name: string): string => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
