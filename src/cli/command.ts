import { Command, Option } from "commander";
import { UsageError } from "../config/config.ts";
import { INVALID, type Kind } from "../config/kinds.ts";
import { flagOf, SETTINGS, type Setting, type SettingName, variableOf } from "../config/settings.ts";

/** Creates a command with these settings as flags. It throws instead of exiting and prints errors in one line. */
export function command(name: string, settings: readonly SettingName[] = []): Command {
  const created = new Command(name).exitOverride().configureOutput({
    outputError: (text, write) =>
      write(
        `plantstore: ${text
          .replace(/^error: /, "")
          // The value of a misspelled option may be a secret.
          .replace(/^(unknown option '[^=]*)=.*'/s, "$1'")
          .trim()
          .replaceAll("\n", " ")}\n`,
      ),
  });
  for (const settingName of settings) {
    const { unit, help, default: preset }: Setting<unknown> = SETTINGS[settingName];
    const source = `env: ${variableOf(settingName)}${preset === undefined ? "" : `, default: ${preset}`}`;
    created.option(`${flagOf(settingName)} <${unit}>`, `${help} [${source}]`);
  }
  return created;
}

/** Creates an option without an environment variable. Invalid values are reported in the same form as those of settings. */
export function option<Value>(flag: string, { unit, rule, parse }: Kind<Value>, help: string): Option {
  return new Option(`${flag} <${unit}>`, help).argParser((text) => {
    const value = parse(text);
    if (value === INVALID) throw new UsageError(`${flag} must be ${rule}`);
    return value;
  });
}
