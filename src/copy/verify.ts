import type { Owner } from "../domain/plant.ts";
import type { Token } from "../domain/token.ts";
import type { Storage, StoredPlant } from "../storage/storage.ts";
import {
  CHUNK,
  compareOwners,
  countOf,
  type Databases,
  nameOwner,
  nameToken,
  type OnPlants,
  takeTurn,
} from "./databases.ts";

/** What was found equal in both databases. */
export interface Verified {
  readonly plants: number;
  readonly owners: number;
  readonly tokens: number;
}

/** All plants of one owner in one database, in short. */
interface Summary {
  readonly owner: Owner;
  readonly plants: number;
  /** SHA-256 over all that is kept of each plant, by ascending id. */
  readonly digest: string;
}

/**
 * Reads everything back from both databases; `onPlants` hears of the plants of both.
 * @throws Error that names the first owner or token which is not the same in both
 */
export async function verify({ source, target, signal }: Databases, onPlants: OnPlants): Promise<Verified> {
  const [ours, theirs] = [source, target].map((storage) => summaries(storage, signal, onPlants)) as [
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

/** Every owner's plants in short, in the order of the owners. */
async function* summaries(storage: Storage, signal: AbortSignal, onPlants: OnPlants): Summaries {
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
    onPlants(chunk.length);
  }
  if (owner !== undefined) yield { owner, plants, digest: hasher.digest("hex") };
}

async function* chunks(storage: Storage, signal: AbortSignal): AsyncGenerator<StoredPlant[], void> {
  let chunk: StoredPlant[] = [];
  do {
    await takeTurn(signal);
    chunk = await storage.selectStored(chunk.at(-1), CHUNK);
    yield chunk;
  } while (chunk.length === CHUNK);
}

/** JSON, so that no two plants have the same text, nor any two rows of plants. */
const contentOf = ({ id, name, tag, idempotencyKey }: StoredPlant): string =>
  JSON.stringify([String(id), name, tag ?? null, idempotencyKey ?? null]);

async function verifyTokens(source: Storage, target: Storage): Promise<number> {
  const [ours, theirs] = await Promise.all([source.selectTokens(), target.selectTokens()]);
  for (let n = 0; n < Math.max(ours.length, theirs.length); n++) {
    const [one, other] = [ours[n], theirs[n]];
    if (JSON.stringify(one) === JSON.stringify(other)) continue;
    throw notTheSame(nameToken((one ?? other) as Token), "or only in one of them");
  }
  return ours.length;
}

function mismatch(one: Summary | undefined, other: Summary | undefined): Error {
  const [first] = [one, other].filter((each) => each !== undefined).sort((a, b) => compareOwners(a.owner, b.owner));
  const { owner } = first as Summary;
  const [here, there] = [one, other].map((each) => countOf(each?.owner === owner ? each.plants : 0, "plant"));
  return notTheSame(
    nameOwner(owner),
    here === there ? `${here} in each, not all alike` : `${here} in the source, ${there} in the target`,
  );
}

const notTheSame = (what: string, how: string): Error =>
  new Error(`${what} is not the same in both databases, ${how}: see that nothing writes to either`);
