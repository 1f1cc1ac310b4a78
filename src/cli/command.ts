import { Command, Option } from "commander";
import { SETTINGS, type SettingName } from "../config.ts";

/** A command that takes these settings as flags, throws instead of exiting, and complains in one line. */
export function command(name: string, settings: readonly SettingName[] = []): Command {
  const made = new Command(name).exitOverride().configureOutput({
    outputError: (text, write) =>
      write(
        `plantstore: ${text
          .replace(/^error: /, "")
          // What is given to a misspelled option may be secret.
          .replace(/^(unknown option '[^=]*)=.*'/s, "$1'")
          .trim()
          .replaceAll("\n", " ")}\n`,
      ),
  });
  for (const settingName of settings) {
    const { flag, unit, help, variable, default: preset } = SETTINGS[settingName] as (typeof SETTINGS)["host"];
    const origin = preset === undefined ? variable : `${variable}, else ${preset}`;
    made.addOption(new Option(`${flag} <${unit}>`, `${help} [${origin}]`));
  }
  return made;
}
