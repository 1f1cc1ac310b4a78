import { dlopen } from "bun:ffi";
import { readdirSync } from "node:fs";

/**
 * Bytes of a response that the kernel takes before they can be sent. By default it takes 4 MiB for each connection
 * (`net.ipv4.tcp_wmem`). A slow reader then seems to stall for minutes, while it works off that queue.
 */
const MAX_UNSENT_BYTES = 128 * 1024;

/** The numbers of socket(7) and tcp(7) by platform. */
const PLATFORMS: Readonly<Record<string, { libraries: string[]; level: number; isListening: number; limit: number }>> =
  {
    linux: { libraries: ["libc.so.6", "libc.so"], level: 1, isListening: 30, limit: 25 },
    darwin: { libraries: ["libSystem.B.dylib"], level: 0xffff, isListening: 2, limit: 0x201 },
  };
const IPPROTO_TCP = 6;

/**
 * Limits the kernel's queue of unsent bytes (TCP_NOTSENT_LOWAT) for all connections that the listening sockets of this
 * process accept from now on: they inherit it. Progress of a reader then shows after 64 KiB, however large the bandwidth
 * or the delay. Without that option, or where the C library is not found, the kernel's default remains.
 */
export function limitSendQueues(): void {
  const platform = PLATFORMS[process.platform];
  const libc = platform?.libraries.map(open).find((library) => library !== undefined);
  if (platform === undefined || libc === undefined) return;
  const { level, isListening, limit } = platform;
  for (const descriptor of readdirSync("/dev/fd").map(Number)) {
    const value = new Int32Array([0]);
    const length = new Uint32Array([value.byteLength]);
    const isSocket = libc.getsockopt(descriptor, level, isListening, value, length) === 0;
    if (!isSocket || value[0] === 0) continue;
    libc.setsockopt(descriptor, IPPROTO_TCP, limit, new Int32Array([MAX_UNSENT_BYTES]), value.byteLength);
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
