import { type Config, readConfig, UsageError } from "../config/config.ts";
import { compare, type Databases, type OnProgress } from "../copy/compare.ts";
import { copyPlants, copyTokens, rejectDifference, requireResolvable } from "../copy/copy.ts";
import { stopSignal } from "../server/signals.ts";
import { isSameDatabase } from "../storage/database-url.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { command } from "./command.ts";
import { formatContents, formatCount } from "./maintenance.ts";
import { openProgress } from "./progress.ts";

const COPY_SETTINGS = ["from", "to", "queryTimeout", "poolSize"] as const;
const RESUME = "to resume, run the same command with --resume";
/** Maximum number of plants to count in a target that is not empty. */
const MAX_COUNTED = 1_000;

/** `plantstore copy --from URL --to URL` */
export const copyCommand = () =>
  command("copy", COPY_SETTINGS)
    .summary("copy a database to another database")
    .description(
      "Copies all plants of all owners, with their idempotency keys, and all tokens to an empty SQLite or PostgreSQL database. Then reads and compares both databases. Stop the servers of both databases first.",
    )
    .option("--resume", "continue an interrupted copy; rows that already exist in the target must match the source")
    .action((flags) => copy(readConfig(COPY_SETTINGS, flags), flags.resume === true));

async function copy(config: Config<(typeof COPY_SETTINGS)[number]>, mayResume: boolean): Promise<void> {
  const { from, to, queryTimeout: queryTimeoutMs, poolSize } = config;
  if (isSameDatabase(from, to)) throw new UsageError("--from and --to name the same database");
  const options = { forServer: true, queryTimeoutMs, poolSize };
  const source = await openStorage(from, { ...options, mustExist: true });
  try {
    const target = await openStorage(to, options);
    try {
      if (!mayResume) await requireEmpty(target);
      console.log(await copyAll({ source, target, signal: abortOn(stopSignal()) }));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** @throws Error with the number of plants and tokens in the database, unless it is empty */
async function requireEmpty(storage: Storage): Promise<void> {
  const { length: plants } = await storage.selectStoredPlants(undefined, MAX_COUNTED);
  const { length: tokens } = await storage.selectTokens();
  if (plants === 0 && tokens === 0) return;
  const contents = `${plants < MAX_COUNTED ? "" : "at least "}${formatCount(plants, "plant")} and ${formatCount(tokens, "token")}`;
  throw new Error(
    `the target already has ${contents}: use an empty database, or --resume to continue an interrupted copy`,
  );
}

/** Copies and verifies. Returns a one-line summary. */
async function copyAll(databases: Databases): Promise<string> {
  try {
    const comparing = (onProgress: OnProgress) => compare(databases, requireResolvable, onProgress);
    const { plants, missing } = await withProgress("comparing", undefined, comparing);
    if (missing > 0) await withProgress("copying", missing, (onProgress) => copyPlants(databases, onProgress));
    // Copy the tokens last, so that no client can use an incomplete target.
    await copyTokens(databases);
    const verified = await withProgress("verifying", plants, (onProgress) =>
      compare(databases, rejectDifference, onProgress),
    );
    return `${formatCount(missing, "plant")} copied; verified equal: ${formatContents(verified)}`;
  } catch (error) {
    throw new Error(`${reasonOf(error as Error)}; ${RESUME}`, { cause: error });
  }
}

/** Formats an error in one line. Includes the cause from the engine, because commands have no log. */
function reasonOf({ message, cause }: Error): string {
  const detail = (cause as { readonly message?: string } | undefined)?.message;
  return detail === undefined ? message : `${message} (${detail.replaceAll("\n", " ")})`;
}

/** Shows a progress bar during `work`. */
async function withProgress<Result>(
  verb: string,
  total: number | undefined,
  work: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  const progress = openProgress(verb, total);
  let done = 0;
  try {
    return await work((count) => {
      done += count;
      progress.update(done, done);
    });
  } finally {
    progress.stop();
  }
}

/** Returns a signal that is aborted when `stop` resolves. */
function abortOn(stop: Promise<string>): AbortSignal {
  const controller = new AbortController();
  stop.then((name) => controller.abort(new Error(`stopped by ${name}`)));
  return controller.signal;
}
