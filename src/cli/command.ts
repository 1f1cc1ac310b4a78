import { Command, Option } from "commander";
import { SETTINGS, type SettingName } from "../config/config.ts";

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
    const { flag, unit, help, variable, default: preset } = SETTINGS[settingName] as (typeof SETTINGS)["host"];
    const source = `env: ${variable}${preset === undefined ? "" : `, default: ${preset}`}`;
    created.addOption(new Option(`${flag} <${unit}>`, `${help} [${source}]`));
  }
  return created;
}
