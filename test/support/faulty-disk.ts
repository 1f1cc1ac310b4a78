/**
 * Runs the program on a disk that fails on command: `bun faulty-disk.ts <fault> <database file> serve ...`. SIGUSR1 begins
 * the fault, SIGUSR2 ends it. What fails are the system calls of this very process, so that it needs no rights and no tools.
 */
import { dlopen, ptr } from "bun:ffi";
import { constants, fstatSync, openSync, statSync } from "node:fs";

interface Fault {
  begin(path: string): void;
  end(): void;
}

const RLIMIT_FSIZE = 1;
const F_GETFL = 3;
const O_ACCMODE = 3;
const MAX_FD = 256;
const libc = openLibc();

const FAULTS: Record<string, Fault> = {
  /** No file grows any more, as on a full disk. */
  full: {
    begin(path) {
      // Without a handler the signal that comes with each refusal would end the process.
      process.on("SIGXFSZ", () => {});
      limitFiles(BigInt(Math.min(statSync(path).size, statSync(`${path}-wal`).size)));
    },
    end: () => limitFiles(unlimited),
  },
  /** What is written to the log is lost, and its fsync fails. */
  "lost-log": losing("-wal"),
  /** What is written to the database file is lost, and its fsync fails. */
  "lost-file": losing(""),
};

const unlimited = 2n ** 64n - 1n;
const [name = "", path = "", ...args] = process.argv.slice(2);
const fault = FAULTS[name];
if (fault === undefined) throw new Error(`there is no fault ${name}`);
process.on("SIGUSR1", () => {
  fault.begin(path);
  console.log("the disk fails");
});
process.on("SIGUSR2", () => {
  fault.end();
  console.log("the disk is well");
});
process.argv.splice(2, process.argv.length, ...args);
await import("../../src/main.ts");

/** The hard limit stays as it is, so that the soft one can be lifted again. */
function limitFiles(bytes: bigint): void {
  const limit = new BigUint64Array(2);
  libc.getrlimit(RLIMIT_FSIZE, ptr(limit));
  limit[0] = bytes < (limit[1] as bigint) ? bytes : (limit[1] as bigint);
  if (libc.setrlimit(RLIMIT_FSIZE, ptr(limit)) !== 0) throw new Error("the limit was refused");
}

/** Puts `/dev/null` in the place of the file that the server writes to: it takes everything, and cannot be synced. */
function losing(suffix: string): Fault {
  let fd: number;
  let original: number;
  return {
    begin(path) {
      fd = lastDescriptorOf(path + suffix);
      original = libc.dup(fd);
      libc.dup2(openSync("/dev/null", "r+"), fd);
    },
    end: () => libc.dup2(original, fd),
  };
}

/** The writer opens its files after the reader, and is the last to open them for writing. */
function lastDescriptorOf(file: string): number {
  const { dev, ino } = statSync(file);
  for (let fd = MAX_FD; fd > 2; fd--) {
    try {
      const found = fstatSync(fd);
      const isWritable = (libc.fcntl(fd, F_GETFL) & O_ACCMODE) !== constants.O_RDONLY;
      if (found.dev === dev && found.ino === ino && isWritable) return fd;
    } catch {
      // Nothing is open there.
    }
  }
  throw new Error(`${file} is not open`);
}

function openLibc() {
  const arch = process.arch === "x64" ? "x86_64" : "aarch64";
  const names = process.platform === "darwin" ? ["libSystem.B.dylib"] : ["libc.so.6", `libc.musl-${arch}.so.1`];
  for (const each of names) {
    try {
      return dlopen(each, {
        dup: { args: ["int"], returns: "int" },
        dup2: { args: ["int", "int"], returns: "int" },
        fcntl: { args: ["int", "int"], returns: "int" },
        getrlimit: { args: ["int", "ptr"], returns: "int" },
        setrlimit: { args: ["int", "ptr"], returns: "int" },
      }).symbols;
    } catch {
      // Perhaps the other C library.
    }
  }
  throw new Error(`there is none of ${names.join(", ")}`);
}
