import type { Owner } from "../domain/plant.ts";
import type { Token } from "../domain/token.ts";
import type { Storage, StoredPlant } from "../storage/storage.ts";
import {
  CHUNK_LENGTH,
  compareOwners,
  type Databases,
  formatCount,
  formatOwner,
  formatToken,
  type OnProgress,
  yieldToEventLoop,
} from "./databases.ts";

/** Counts of rows verified as equal in both databases. */
export interface VerifiedCounts {
  readonly plants: number;
  readonly owners: number;
  readonly tokens: number;
}

/** Count and digest of all plants of one owner in one database. */
interface Summary {
  readonly owner: Owner;
  readonly plants: number;
  /** SHA-256 of id, name, tag and idempotency key of all plants, by ascending id. */
  readonly digest: string;
}

/**
 * Reads both databases completely and compares them. `onProgress` counts the plants of both.
 * @throws Error that names the first owner or token that differs
 */
export async function verify({ source, target, signal }: Databases, onProgress: OnProgress): Promise<VerifiedCounts> {
  const [ours, theirs] = [source, target].map((storage) => summaries(storage, signal, onProgress)) as [
    Summaries,
    Summaries,
  ];
  const verified = { plants: 0, owners: 0, tokens: await verifyTokens(source, target) };
  for (;;) {
    const [{ value: one }, { value: other }] = await Promise.all([ours.next(), theirs.next()]);
    if (one === undefined && other === undefined) return verified;
    if (one?.owner !== other?.owner || one?.digest !== other?.digest) throw mismatch(one, other);
    verified.plants += one?.plants ?? 0;
    verified.owners++;
  }
}

type Summaries = AsyncGenerator<Summary, undefined>;

/** Yields a summary for each owner, ordered by owner. */
async function* summaries(storage: Storage, signal: AbortSignal, onProgress: OnProgress): Summaries {
  let owner: Owner | undefined;
  let plants = 0;
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const chunk of chunks(storage, signal)) {
    for (const plant of chunk) {
      if (owner !== undefined && owner !== plant.owner) {
        yield { owner, plants, digest: hasher.digest("hex") };
        plants = 0;
      }
      owner = plant.owner;
      plants++;
      hasher.update(contentOf(plant));
    }
    onProgress(chunk.length);
  }
  if (owner !== undefined) yield { owner, plants, digest: hasher.digest("hex") };
}

async function* chunks(storage: Storage, signal: AbortSignal): AsyncGenerator<StoredPlant[], void> {
  let chunk: StoredPlant[] = [];
  do {
    await yieldToEventLoop(signal);
    chunk = await storage.selectStored(chunk.at(-1), CHUNK_LENGTH);
    yield chunk;
  } while (chunk.length === CHUNK_LENGTH);
}

/** Serializes a plant as JSON, so that no two sequences of plants have the same text. */
const contentOf = ({ id, name, tag, idempotencyKey }: StoredPlant): string =>
  JSON.stringify([String(id), name, tag ?? null, idempotencyKey ?? null]);

async function verifyTokens(source: Storage, target: Storage): Promise<number> {
  const [ours, theirs] = await Promise.all([source.selectTokens(), target.selectTokens()]);
  for (let n = 0; n < Math.max(ours.length, theirs.length); n++) {
    const [one, other] = [ours[n], theirs[n]];
    if (JSON.stringify(one) === JSON.stringify(other)) continue;
    throw verificationError(`${formatToken((one ?? other) as Token)} differs or exists in only one database`);
  }
  return ours.length;
}

function mismatch(one: Summary | undefined, other: Summary | undefined): Error {
  const [first] = [one, other].filter((each) => each !== undefined).sort((a, b) => compareOwners(a.owner, b.owner));
  const { owner } = first as Summary;
  const [here, there] = [one, other].map((each) => formatCount(each?.owner === owner ? each.plants : 0, "plant"));
  const difference =
    here === there ? `${here} in each, but not the same` : `${here} in the source, ${there} in the target`;
  return verificationError(`${formatOwner(owner)} has ${difference}`);
}

const verificationError = (difference: string): Error =>
  new Error(`verification failed: ${difference}; make sure that nothing writes to either database`);
