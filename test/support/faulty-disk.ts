/**
 * Runs the program with injected disk faults: `bun faulty-disk.ts <fault> <database file> serve ...`. SIGUSR1 begins the
 * fault, SIGUSR2 ends it. Only system calls of this process fail, so no privileges or tools are needed.
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
  /** Files cannot grow, as on a full disk. */
  full: {
    begin(path) {
      // Each failed write also sends this signal, which would end the process without a handler.
      process.on("SIGXFSZ", () => {});
      limitFileSize(BigInt(Math.min(statSync(path).size, statSync(`${path}-wal`).size)));
    },
    end: () => limitFileSize(unlimited),
  },
  /** Writes to the WAL are lost, and its fsync fails. */
  "lost-wal": lostWrites("-wal"),
  /** Writes to the database file are lost, and its fsync fails. */
  "lost-database": lostWrites(""),
};

const unlimited = 2n ** 64n - 1n;
const [name = "", path = "", ...args] = process.argv.slice(2);
const fault = FAULTS[name];
if (fault === undefined) throw new Error(`unknown fault ${name}`);
process.on("SIGUSR1", () => {
  fault.begin(path);
  console.log("the disk fails");
});
process.on("SIGUSR2", () => {
  fault.end();
  console.log("the disk recovers");
});
process.argv.splice(2, process.argv.length, ...args);
await import("../../src/main.ts");

/** Limits the size of files. Sets only the soft limit, which can be raised again. */
function limitFileSize(bytes: bigint): void {
  const limit = new BigUint64Array(2);
  libc.getrlimit(RLIMIT_FSIZE, ptr(limit));
  limit[0] = bytes < (limit[1] as bigint) ? bytes : (limit[1] as bigint);
  if (libc.setrlimit(RLIMIT_FSIZE, ptr(limit)) !== 0) throw new Error("cannot set the limit");
}

/** Returns a fault that redirects the server's writes to `/dev/null`, which accepts writes and rejects fsync. */
function lostWrites(suffix: string): Fault {
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

/** Returns the last writable descriptor of a file: the writer opens its files after the reader. */
function lastDescriptorOf(file: string): number {
  const { dev, ino } = statSync(file);
  for (let fd = MAX_FD; fd > 2; fd--) {
    try {
      const found = fstatSync(fd);
      const isWritable = (libc.fcntl(fd, F_GETFL) & O_ACCMODE) !== constants.O_RDONLY;
      if (found.dev === dev && found.ino === ino && isWritable) return fd;
    } catch {
      // Not an open descriptor.
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
      // Try the other C library.
    }
  }
  throw new Error(`cannot load any of ${names.join(", ")}`);
}
