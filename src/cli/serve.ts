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
      "Runs the server until SIGTERM or SIGINT, then completes the accepted requests and exits. If the database has no token, creates one for the owner `default` and prints it once. Logs JSON lines to standard error.",
    )
    .addOption(new Option("--worker <number>", "number of a worker; set by the supervisor").hideHelp())
    .action(({ worker, ...flags }) => {
      const config = readConfig(SETTING_NAMES, flags);
      if (worker !== undefined) return serveAsWorker(config, Number(worker));
      return config.workers === 1 ? serve(config) : supervise(config);
    });
