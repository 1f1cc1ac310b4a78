import { peers } from "./peers/index.ts";
import type { Measurement } from "./scenario.ts";
import { cannedBun, cannedNginx, type ExchangeName } from "./servers/limits.ts";
import { baselineIn, plantStore } from "./servers/plant-store.ts";
import type { Server, ServerDefinition, StartOptions } from "./servers/server.ts";

/** The running servers of a scenario. Each is idle while another one is measured. */
export interface ServerGroup extends AsyncDisposable {
  readonly product: Server;
  /** All servers, the product first. */
  readonly servers: readonly Server[];
  /** Servers that failed to start, with the reason. */
  readonly missing: readonly Measurement[];
}

export interface ServerGroupOptions extends StartOptions {
  /** Exchanges that the limits replay. Without any, no limit is started. */
  readonly limitsFor?: readonly ExchangeName[];
  /** Whether a bare `Bun.serve` is a limit too. */
  readonly withBareBun?: boolean;
  /** Whether to start the peers. */
  readonly withPeers?: boolean;
  /** Another checkout whose Plant Store is started too. */
  readonly against?: string | undefined;
}

/** Starts the product, the baseline, the limits and the peers. The limits replay the product's responses. */
export async function startServers(options: ServerGroupOptions): Promise<ServerGroup> {
  const { limitsFor = [], withBareBun = false, withPeers = false, against, ...startOptions } = options;
  const product = await plantStore.start(startOptions);
  const servers = [product];
  const missing: Measurement[] = [];
  const limits = limitsFor.length === 0 ? [] : [cannedNginx(product, limitsFor)];
  if (withBareBun) limits.push(cannedBun(product, limitsFor));
  const baseline = against === undefined ? [] : [baselineIn(against)];
  for (const definition of [...baseline, ...limits, ...(withPeers ? peers : [])]) {
    await definition.start(startOptions).then(
      (server) => servers.push(server),
      (error) => missing.push(toMissing(definition, error)),
    );
  }
  return {
    product,
    servers,
    missing,
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

const toMissing = ({ name, role }: ServerDefinition, error: Error): Measurement => ({
  server: name,
  role,
  rounds: [],
  errors: 0,
  missing: error.message,
});
