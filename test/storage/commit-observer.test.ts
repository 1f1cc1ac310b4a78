import { afterEach, describe, expect, it } from "bun:test";
import { join } from "node:path";
import { DATABASES, type TestDatabase } from "../support/engines.ts";
import { track } from "../support/program.ts";

const TIMEOUT_MS = 30_000;

describe.each(DATABASES)("a commit observer that throws, on %s", (_, newDatabase) => {
  let database: TestDatabase | undefined;
  afterEach(() => database?.drop());

  it(
    "does not fail the write, and its error is an uncaught exception",
    async () => {
      database = await newDatabase();
      const program = join(import.meta.dir, "../support/throwing-observer.ts");
      const child = track(Bun.spawn([process.execPath, program, database.url], { stdout: "pipe", stderr: "inherit" }));
      const output = await new Response(child.stdout).text();
      await child.exited;
      expect(JSON.parse(output)).toEqual({ outcomes: ["inserted", "inserted"], plants: 2, uncaught: 2 });
    },
    TIMEOUT_MS,
  );
});
