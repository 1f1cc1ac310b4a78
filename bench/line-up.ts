import { peers } from "./peers/index.ts";
import type { Depth, Measurement } from "./scenario.ts";
import { bareBunLike, type ExchangeName, nginxLike } from "./servers/limits.ts";
import { plantStore } from "./servers/plant-store.ts";
import type { Kind, Server, Setup } from "./servers/server.ts";

/** The servers of a scenario. They run side by side, each idle while another one is measured. */
export interface LineUp extends AsyncDisposable {
  readonly product: Server;
  /** All, the product first. */
  readonly servers: readonly Server[];
  /** Those that this machine does not have. */
  readonly missing: readonly Measurement[];
}

export interface LineUpOptions extends Setup {
  /** What the limits are to answer with the product's own bytes. */
  readonly constants?: readonly ExchangeName[];
  /** Whether a bare `Bun.serve` is to be a limit too. */
  readonly withBareBun?: boolean;
  /** Given where the peers are to be there, if they are wanted at all. */
  readonly peersOf?: Depth;
}

/** Starts the product, the limits made after its answers, and the peers. */
export async function lineUp(options: LineUpOptions): Promise<LineUp> {
  const { constants = [], withBareBun = false, peersOf, ...setup } = options;
  const product = await plantStore.start(setup);
  const servers = [product];
  const missing: Measurement[] = [];
  const limits = constants.length === 0 ? [] : [nginxLike(product, constants)];
  if (withBareBun) limits.push(bareBunLike(product, constants));
  for (const kind of [...limits, ...(peersOf?.withPeers ? peers : [])]) {
    await kind.start(setup).then(
      (server) => servers.push(server),
      (error) => missing.push(toMissing(kind, error)),
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

const toMissing = ({ name, role }: Kind, error: Error): Measurement => ({
  server: name,
  role,
  rounds: [],
  errors: 0,
  missing: error.message,
});
