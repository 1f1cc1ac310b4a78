import { afterEach } from "bun:test";
import { type Program, startProgram } from "./program.ts";

/** Returns a {@link startProgram} whose programs are killed after each test of the file. */
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
