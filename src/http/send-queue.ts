import { dlopen } from "bun:ffi";
import { readdirSync } from "node:fs";

/**
 * Maximum unsent bytes that the kernel queues for each connection. Its default is 4 MiB (`net.ipv4.tcp_wmem`), so a
 * slow client would appear stalled for minutes while it reads that queue.
 */
const MAX_UNSENT_BYTES = 128 * 1024;

interface Platform {
  readonly libraries: readonly string[];
  readonly SOL_SOCKET: number;
  readonly SO_ACCEPTCONN: number;
  readonly TCP_NOTSENT_LOWAT: number;
}

/** C libraries and numeric constants of socket(7) and tcp(7). */
const PLATFORMS: Readonly<Record<string, Platform>> = {
  linux: { libraries: ["libc.so.6", "libc.so"], SOL_SOCKET: 1, SO_ACCEPTCONN: 30, TCP_NOTSENT_LOWAT: 25 },
  darwin: { libraries: ["libSystem.B.dylib"], SOL_SOCKET: 0xffff, SO_ACCEPTCONN: 2, TCP_NOTSENT_LOWAT: 0x201 },
};
const IPPROTO_TCP = 6;

/**
 * Limits the kernel's queue of unsent bytes (TCP_NOTSENT_LOWAT). Sets the limit on all listening sockets of this
 * process; new connections inherit it. The progress of a client then becomes visible after 64 KiB, at any bandwidth and
 * latency. Keeps the kernel's default where the platform lacks the option or the C library is not found.
 */
export function limitSendQueues(): void {
  const platform = PLATFORMS[process.platform];
  const libc = platform?.libraries.map(open).find((library) => library !== undefined);
  if (platform === undefined || libc === undefined) return;
  const { SOL_SOCKET, SO_ACCEPTCONN, TCP_NOTSENT_LOWAT } = platform;
  for (const descriptor of openDescriptors()) {
    const value = new Int32Array([0]);
    const length = new Uint32Array([value.byteLength]);
    const isSocket = libc.getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, value, length) === 0;
    if (!isSocket || value[0] === 0) continue;
    libc.setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, new Int32Array([MAX_UNSENT_BYTES]), value.byteLength);
  }
}

function openDescriptors(): number[] {
  try {
    return readdirSync("/dev/fd").map(Number);
  } catch {
    // Listing the descriptors needs one, and the limit may be reached.
    return [];
  }
}

function open(library: string) {
  try {
    return dlopen(library, {
      getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
      setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
    }).symbols;
  } catch {
    return undefined;
  }
}
