import type { Owner } from "../domain/plant.ts";

/** Characters of all answers together; beyond, everything is forgotten. */
const MAX_CHARACTERS = 2 * 1024 * 1024;
/** What an answer counts for besides its own characters: most of them are short, and none is smaller in memory. */
const CHARACTERS_PER_ANSWER = 512;
/** A longer body is sooner built again than it pushes out a thousand others. */
const MAX_BODY_CHARACTERS = 64 * 1024;

/** Lists that were asked for once, remembered by a checksum, as many as there can be answers; beyond, none is known. */
const MAX_ASKED_ONCE = 4_096;

/** A list as it was answered. */
interface Answered {
  readonly version: number;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/**
 * Caches the bodies of short lists. An entry is served only while the owner has the version that the entry was built
 * at, so no list is older than an acknowledged write or than another list before it (see `Storage.version`). A body is
 * cached when its list is built for the second time: a client that pages through all plants requests each page once.
 */
export class ListCache {
  readonly #answers = new Map<string, Answered>();
  readonly #askedOnce = new Set<number>();
  #characters = 0;

  get(owner: Owner, url: string, version: number): Answered | undefined {
    const answered = this.#answers.get(keyOf(owner, url));
    return answered?.version === version ? answered : undefined;
  }

  /** The caller must read `version` before the plants: a commit in between then makes the entry unusable. */
  set(owner: Owner, url: string, answered: Answered): void {
    if (answered.body.length > MAX_BODY_CHARACTERS) return;
    const key = keyOf(owner, url);
    const known = this.#answers.get(key);
    if (known === undefined && !this.#wasAskedBefore(key)) return;
    this.#characters += sizeOf(key, answered) - sizeOf(key, known);
    if (this.#characters > MAX_CHARACTERS) {
      this.#answers.clear();
      this.#characters = sizeOf(key, answered);
    }
    this.#answers.set(key, answered);
  }

  /** Two lists of one checksum do no harm: a body is then kept a time too early. */
  #wasAskedBefore(key: string): boolean {
    const checksum = Bun.hash.crc32(key);
    if (this.#askedOnce.delete(checksum)) return true;
    if (this.#askedOnce.size === MAX_ASKED_ONCE) this.#askedOnce.clear();
    this.#askedOnce.add(checksum);
    return false;
  }
}

/** Unambiguous: no URL has a line feed in it. */
const keyOf = (owner: Owner, url: string): string => `${url}\n${owner}`;

const sizeOf = (key: string, answered: Answered | undefined): number =>
  answered === undefined
    ? 0
    : CHARACTERS_PER_ANSWER + key.length + answered.body.length + (answered.headers["Link"]?.length ?? 0);
