import { INVALID } from "./kinds.ts";
import { flagOf, SETTINGS, type Setting, type SettingName, variableOf } from "./settings.ts";

/** Invalid arguments or settings. The program exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Parsed values of some settings. Durations are in milliseconds, sizes in bytes; an optional setting that is off is `undefined`. */
export type Config<Name extends SettingName> = {
  readonly [N in Name]: Exclude<ReturnType<(typeof SETTINGS)[N]["parse"]>, typeof INVALID>;
};

/**
 * Reads settings. Flags take precedence over environment variables, which take precedence over defaults.
 * @throws UsageError that lists all invalid and missing settings
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
  if (problems.length > 0) throw new UsageError(problems.join("; "));
  return values as Config<Name>;
}
