import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, newFolder } from "../processes.ts";
import { type CannedResponse, probe } from "./exchange.ts";
import { type Exchanges, launch, type Server, type ServerDefinition } from "./server.ts";

export const NGINX = "nginx";
const BARE_BUN = "bare Bun.serve";

/** Name of a kind of request. */
export type ExchangeName = keyof Exchanges;

/** Headers that each server generates itself. */
const GENERATED_HEADERS = new Set(["date", "content-length", "connection", "transfer-encoding", "content-type"]);
/** nginx allows 4,096 bytes in a configuration string. Longer bodies are served from a file. */
const MAX_INLINE_BYTES = 4_000;

/** Recorded responses by method. At most one exchange has each method. */
type CannedResponses = ReadonlyMap<string, CannedResponse>;

/** Defines an nginx that returns the reference server's responses as constants. */
export const cannedNginx = (reference: Server, names: readonly ExchangeName[]): ServerDefinition => ({
  name: NGINX,
  role: "limit",
  async start({ cores }) {
    if (Bun.which("nginx") === null) throw new Error("nginx is missing: apt-get install nginx-light");
    const folder = newFolder();
    const port = freePort();
    const config = join(folder.path, "nginx.conf");
    const workers = cores === "0,1" ? 2 : 1;
    const responses = await recordResponses(reference, names);
    writeFileSync(config, nginxConfig(folder.path, port, workers, responses));
    return launch({
      name: NGINX,
      role: "limit",
      url: `http://127.0.0.1:${port}`,
      command: ["nginx", "-c", config, "-e", "stderr"],
      exchanges: pick(reference.exchanges, names),
      cores,
      folder,
    });
  },
});

/** Defines a bare `Bun.serve` that returns the reference server's responses as constants: the limit of the runtime. */
export const cannedBun = (reference: Server, names: readonly ExchangeName[]): ServerDefinition => ({
  name: BARE_BUN,
  role: "limit",
  async start({ cores }) {
    const port = freePort();
    const responses = await recordResponses(reference, names);
    return launch({
      name: BARE_BUN,
      role: "limit",
      url: `http://127.0.0.1:${port}`,
      command: [process.execPath, join(import.meta.dir, "bare-bun.ts"), String(port)],
      env: { RESPONSES: JSON.stringify([...responses]) },
      exchanges: pick(reference.exchanges, names),
      cores,
      folder: newFolder(),
    });
  },
});

async function recordResponses(reference: Server, names: readonly ExchangeName[]): Promise<CannedResponses> {
  const responses = new Map<string, CannedResponse>();
  for (const exchange of Object.values(pick(reference.exchanges, names))) {
    responses.set(exchange.method, await probe(reference.url, exchange));
  }
  return responses;
}

const pick = (exchanges: Exchanges, names: readonly ExchangeName[]): Exchanges =>
  Object.fromEntries(names.map((name) => [name, exchanges[name]]));

function nginxConfig(folder: string, port: number, workers: number, responses: CannedResponses): string {
  const [[, first], ...others] = [...responses] as [[string, CannedResponse], ...[string, CannedResponse][]];
  const isInFile = first.body.length > MAX_INLINE_BYTES;
  mkdirSync(join(folder, "files"));
  if (isInFile) writeFileSync(join(folder, "files/plants"), first.body);
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
      ${others.map(([method, response]) => `if ($request_method = ${method}) { ${nginxReturn(response)} }`).join("\n      ")}
      ${isInFile ? `root ${folder}/files; ${nginxHeaders(first)}` : nginxReturn(first)}
    }
  }
}
`;
}

const nginxReturn = (response: CannedResponse): string =>
  `${nginxHeaders(response)} return ${response.status}${response.body === "" ? "" : ` '${response.body.replaceAll("'", "\\'")}'`};`;

const nginxHeaders = ({ headers }: CannedResponse): string =>
  Object.entries(headers)
    .filter(([name]) => !GENERATED_HEADERS.has(name))
    .map(([name, value]) => `add_header ${titleCase(name)} '${value}' always;`)
    .join(" ");

/** Formats a header name in its usual case: `X-Request-Id`. */
const titleCase = (name: string): string => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
