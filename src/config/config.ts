import { INVALID } from "./kinds.ts";
import { nearest } from "./nearest.ts";
import { flagOf, namesOf, SETTINGS, type Setting, type SettingName, variableOf } from "./settings.ts";

/** Invalid arguments or settings. The program exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Parsed values of some settings. Durations are in milliseconds, sizes in bytes; an optional setting that is off is `undefined`. */
export type Config<Name extends SettingName> = {
  readonly [N in Name]: Exclude<ReturnType<(typeof SETTINGS)[N]["parse"]>, typeof INVALID>;
};

/** Returns the problem of a combination of settings, if any. `values` lacks settings that are invalid or not read. */
type Rule = (values: Partial<Config<SettingName>>) => string | false | undefined;

/** Requires that all of these settings are set, or none. */
function requireTogether(...names: readonly SettingName[]): Rule {
  const problem = `${new Intl.ListFormat("en").format(names.map(flagOf))} must be set together`;
  return (values) =>
    names.every((name) => name in values) &&
    names.some((name) => values[name] !== undefined) &&
    names.some((name) => values[name] === undefined) &&
    problem;
}

const RULES: readonly Rule[] = [
  requireTogether("tlsCert", "tlsKey"),
  requireTogether("issuer", "audience", "jwksUrl"),
  ({ backupDir, database }) =>
    backupDir !== undefined &&
    database?.engine === "postgres" &&
    "--backup-dir supports only SQLite: for PostgreSQL, use pg_dump and pg_restore, see docs/operations.md",
  ({ workers = 1, database }) =>
    workers > 1 &&
    database?.engine === "sqlite" &&
    "--workers above 1 requires PostgreSQL, because only one process can serve a SQLite database: set --database",
  ({ workers = 1 }) =>
    workers > 1 && process.platform !== "linux" && "--workers above 1 requires Linux, where processes can share a port",
];

/**
 * Reads settings. Flags take precedence over environment variables, which take precedence over defaults.
 * @throws UsageError that lists all invalid, missing and contradictory settings
 */
export function readConfig<Name extends SettingName>(
  names: readonly Name[],
  flags: Readonly<Record<string, unknown>>,
): Config<Name> {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of names) {
    const { default: preset, rule, parse }: Setting<unknown> = SETTINGS[name];
    const [flag, variable, given] = [flagOf(name), variableOf(name), flags[name]];
    const [source, text] = typeof given === "string" ? [flag, given] : [variable, process.env[variable] || preset];
    const value = text === undefined ? INVALID : parse(text);
    if (value !== INVALID) values[name] = value;
    else problems.push(text === undefined ? `${flag} or ${variable} is required` : `${source} must be ${rule}`);
  }
  problems.push(...RULES.map((rule) => rule(values)).filter((problem) => typeof problem === "string"));
  if (problems.length > 0) throw new UsageError(problems.join("; "));
  return values as Config<Name>;
}

/** Returns a message for each `PLANTSTORE_` environment variable that is not a setting, such as a misspelled one. */
export function describeUnknownVariables(): string[] {
  const known = namesOf(SETTINGS).map(variableOf);
  const unknown = Object.keys(process.env).filter((name) => name.startsWith("PLANTSTORE_") && !known.includes(name));
  return unknown.map((name) => {
    const similar = nearest(name.toUpperCase(), known);
    return `${name} is not a setting${similar === undefined ? "" : `: did you mean ${similar}?`}`;
  });
}
