import { afterAll } from "bun:test";
import { cleanUp } from "./cleanup.ts";

// See bunfig.toml. Runs after each file with --parallel, which gives each file its own modules, and otherwise after the
// last file. `bun test` emits no "exit" event.
afterAll(cleanUp);
