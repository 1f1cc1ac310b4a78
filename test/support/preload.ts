import { afterAll } from "bun:test";
import { endTracked } from "./program.ts";

// For the whole run (see bunfig.toml): `bun test` ends without the event "exit".
afterAll(endTracked);
