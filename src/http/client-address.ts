import { type BlockList, isIP } from "node:net";

/** Maximum number of `X-Forwarded-For` entries that are read, starting with the last. */
const MAX_FORWARDED = 32;

/**
 * Returns the address of a request's client. That is the peer of the connection, unless the peer is a trusted proxy.
 * Then it is the last address in `X-Forwarded-For` that is not a trusted proxy, because the client may have forged the
 * entries before it.
 */
export function clientAddress(request: Request, peer: string, proxies: BlockList | undefined): string {
  if (proxies === undefined) return peer;
  const forwarded = request.headers.get("x-forwarded-for")?.split(",").slice(-MAX_FORWARDED) ?? [];
  let address = peer;
  while (isTrusted(address, proxies)) {
    const before = withoutPort(forwarded.pop()?.trim() ?? "");
    if (isIP(before) === 0) break;
    address = before;
  }
  return address;
}

/** Some gateways append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (entry: string): string =>
  /^(?:\[(.*)\]|([^:]*))(?::\d+)?$/.exec(entry)?.slice(1).find(Boolean) ?? entry;

/** Returns the key for rate limits: the IPv4 address, or the /64 prefix of an IPv6 address (RFC 4291, 2.5.4). */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [, embedded] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (embedded !== undefined) return embedded;
  const [head, tail] = address.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array<string>(tail === undefined ? 0 : 8 - (head?.length ?? 0) - tail.length).fill("0");
  const groups = [...(head ?? []), ...zeros, ...(tail ?? [])].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}

const isTrusted = (address: string, proxies: BlockList): boolean =>
  isIP(address) !== 0 && proxies.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
