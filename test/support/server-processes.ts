import { afterEach } from "bun:test";
import { type ServerProcess, startServerProcess } from "./program.ts";

/** Returns a {@link startServerProcess} that kills its processes after each test of the calling file. */
export function useServerProcesses(): typeof startServerProcess {
  let started: ServerProcess[] = [];
  afterEach(async () => {
    await Promise.all(started.map((server) => server.stop("SIGKILL")));
    started = [];
  });
  return async (...args) => {
    const server = await startServerProcess(...args);
    started.push(server);
    return server;
  };
}
