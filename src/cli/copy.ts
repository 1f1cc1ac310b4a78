import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { type Config, readConfig, UsageError } from "../config.ts";
import { compare, copyPlants, copyTokens, describeContents } from "../copy/copy.ts";
import { countOf, type Databases, type OnPlants } from "../copy/databases.ts";
import { verify } from "../copy/verify.ts";
import { openStorage, sqliteFile } from "../storage/open.ts";
import { command } from "./command.ts";
import { stopSignal } from "./life.ts";
import { openProgress } from "./progress.ts";

const COPY_SETTINGS = ["from", "to", "queryTimeout", "poolSize"] as const;
const RESUME = "to go on, run the same command with --resume";

/** `plantstore copy --from URL --to URL` */
export const copyCommand = () =>
  command("copy", COPY_SETTINGS)
    .summary("copy a whole database to another one")
    .description(
      "Copies all plants of all owners, with their idempotency keys, and all tokens to an empty database, of the same kind or the other one. Then reads both and compares them. No server may run on a SQLite file meanwhile; servers on PostgreSQL must be stopped.",
    )
    .option("--resume", "go on with a copy that was interrupted: what the target has already must be equal")
    .action((flags) => copy(readConfig(COPY_SETTINGS, flags), flags.resume === true));

async function copy(config: Config<(typeof COPY_SETTINGS)[number]>, mayResume: boolean): Promise<void> {
  const { from, to, queryTimeout: queryTimeoutMs, poolSize } = config;
  if (placeOf(from) === placeOf(to)) throw new UsageError("--from and --to name the same database");
  const options = { forServer: true, queryTimeoutMs, poolSize };
  const source = await openStorage(from, { ...options, mustExist: true });
  try {
    const target = await openStorage(to, options);
    try {
      const contents = mayResume ? undefined : await describeContents(target);
      if (contents !== undefined)
        throw new Error(
          `the target has ${contents} already: name an empty database with --to, or --resume a copy that was interrupted`,
        );
      console.log(await copyAll({ source, target, signal: abortedBy(stopSignal()) }));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Resolves with what was done, in one line. */
async function copyAll(databases: Databases): Promise<string> {
  try {
    const { plants, missing } = await showing("comparing", undefined, (onPlants) => compare(databases, onPlants));
    if (missing > 0) await showing("copying", missing, (onPlants) => copyPlants(databases, onPlants));
    // The tokens come last, so that nobody is let in before all plants are there.
    await copyTokens(databases);
    const bothPlants = 2 * plants;
    const verified = await showing("verifying", bothPlants, (onPlants) => verify(databases, onPlants));
    const counts = [
      countOf(verified.plants, "plant"),
      countOf(verified.owners, "owner"),
      countOf(verified.tokens, "token"),
    ];
    return `${countOf(missing, "plant")} copied; verified equal in both databases: ${counts.join(", ")}`;
  } catch (error) {
    throw new Error(`${reasonOf(error as Error)}; ${RESUME}`, { cause: error });
  }
}

/** Why it failed, in one line, with what the engine said: there is no log to look it up in. */
function reasonOf({ message, cause }: Error): string {
  const detail = (cause as { readonly message?: string } | undefined)?.message;
  return detail === undefined ? message : `${message} (${detail.replaceAll("\n", " ")})`;
}

/** Shows the progress of some work on plants. */
async function showing<Result>(
  verb: string,
  total: number | undefined,
  work: (onPlants: OnPlants) => Promise<Result>,
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

/** Is aborted by the signal that `stop` resolves with. */
function abortedBy(stop: Promise<string>): AbortSignal {
  const controller = new AbortController();
  stop.then((name) => controller.abort(new Error(`stopped by ${name}`)));
  return controller.signal;
}

/** Where a database is, whatever else its URL says. */
function placeOf(url: string): string {
  const path = sqliteFile(url);
  if (path !== undefined) return existsSync(path) ? realpathSync(path) : resolve(path);
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port || "5432"}${decodeURIComponent(pathname)}`;
}
