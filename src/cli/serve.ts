import { Option } from "commander";
import { readConfig } from "../config/config.ts";
import { namesOf, SERVE_SETTINGS } from "../config/settings.ts";
import { serve, serveAsWorker } from "../server/serve.ts";
import { supervise } from "../server/supervisor.ts";
import { command } from "./command.ts";

const SETTING_NAMES = namesOf(SERVE_SETTINGS);

/** `plantstore serve` */
export const serveCommand = () =>
  command("serve", SETTING_NAMES)
    .summary("run the server")
    .description(
      "Runs the server until SIGTERM or SIGINT, which let it finish what it has accepted. On an empty database it makes a token for the owner `default` and shows it once. The log goes to standard error as JSON lines.",
    )
    .addOption(new Option("--worker <number>", "set by a supervisor for each of its workers").hideHelp())
    .action(({ worker, ...flags }) => {
      const config = readConfig(SETTING_NAMES, flags);
      if (worker !== undefined) return serveAsWorker(config, Number(worker));
      return config.workers === 1 ? serve(config) : supervise(config);
    });
