import type { Owner } from "../domain/plant.ts";
import type { HeaderFields } from "./response.ts";

/** Maximum total characters cached; the cache is cleared when exceeded. */
const MAX_CHARACTERS = 2 * 1024 * 1024;
/** Fixed overhead counted for each entry, about its minimum size in memory. */
const ENTRY_OVERHEAD_CHARACTERS = 512;
/** Longer bodies are not cached, because one of them would displace many short ones. */
const MAX_BODY_CHARACTERS = 64 * 1024;

/** Maximum number of checksums of lists that were requested once; the set is cleared when full. */
const MAX_REQUESTED_ONCE = 4_096;

/** A cached response to a list request. */
interface CachedList {
  readonly version: number;
  readonly body: string;
  readonly headers: HeaderFields;
}

/**
 * Caches the bodies of short lists. An entry is served only while the version of the owner's plants is that of the entry,
 * so no list is older than an acknowledged write or an earlier list (see `Storage.version`). A body is cached when its list
 * is built for the second time, because a client that pages through all plants requests each page once.
 */
export class ListCache {
  readonly #lists = new Map<string, CachedList>();
  readonly #requestedOnce = new Set<number>();
  #characters = 0;

  get(owner: Owner, url: string, version: number): CachedList | undefined {
    const list = this.#lists.get(keyOf(owner, url));
    return list?.version === version ? list : undefined;
  }

  /** Caches a list. The caller must read `version` before the plants, so that a commit in between invalidates the entry. */
  set(owner: Owner, url: string, list: CachedList): void {
    if (list.body.length > MAX_BODY_CHARACTERS) return;
    const key = keyOf(owner, url);
    const previous = this.#lists.get(key);
    if (previous === undefined && !this.#wasRequestedBefore(key)) return;
    this.#characters += sizeOf(key, list) - sizeOf(key, previous);
    if (this.#characters > MAX_CHARACTERS) {
      this.#lists.clear();
      this.#characters = sizeOf(key, list);
    }
    this.#lists.set(key, list);
  }

  /** A checksum collision is harmless: a body is then cached one request early. */
  #wasRequestedBefore(key: string): boolean {
    const checksum = Bun.hash.crc32(key);
    if (this.#requestedOnce.delete(checksum)) return true;
    if (this.#requestedOnce.size === MAX_REQUESTED_ONCE) this.#requestedOnce.clear();
    this.#requestedOnce.add(checksum);
    return false;
  }
}

/** Returns the cache key of a list. It is unambiguous, because URLs contain no line feed. */
const keyOf = (owner: Owner, url: string): string => `${url}\n${owner}`;

const sizeOf = (key: string, list: CachedList | undefined): number =>
  list === undefined
    ? 0
    : ENTRY_OVERHEAD_CHARACTERS + key.length + list.body.length + (list.headers["Link"]?.length ?? 0);
