import { afterEach } from "bun:test";
import { type Program, startProgram } from "./program.ts";

/** {@link startProgram} for the tests of a file: what one has started is killed after it. */
export function startPrograms(): typeof startProgram {
  let started: Program[] = [];
  afterEach(async () => {
    await Promise.all(started.map((program) => program.stop("SIGKILL")));
    started = [];
  });
  return async (...args) => {
    const program = await startProgram(...args);
    started.push(program);
    return program;
  };
}
