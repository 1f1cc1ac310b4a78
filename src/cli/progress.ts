import { SingleBar } from "cli-progress";

/** Progress bar on standard error. Prints nothing if that is not a terminal. */
export interface Progress {
  /** Reports the total `done` so far, in the unit of the bar, and the number of plants. */
  update(done: number, plants: number): void;
  stop(): void;
}

/** Opens a progress bar. `total` is in bytes or plants; without it, only the number of plants and their rate are shown. */
export function openProgress(verb: string, total: number | undefined): Progress {
  if (!process.stderr.isTTY) return { update() {}, stop() {} };
  const counts = "{plants} plants, {rate}/s";
  const format =
    total === undefined ? `${verb} ${counts}` : `${verb} {bar} {percentage}% · ${counts} · {remaining} left`;
  const bar = new SingleBar({ format, barCompleteChar: "█", barIncompleteChar: "░", hideCursor: true, fps: 10 });
  const startedMs = performance.now();
  bar.start(total ?? 0, 0, { plants: 0, rate: 0, remaining: "?" });
  return {
    update(done, plants) {
      const seconds = Math.max((performance.now() - startedMs) / 1_000, 0.001);
      bar.update(done, {
        plants: plants.toLocaleString("en"),
        rate: Math.round(plants / seconds).toLocaleString("en"),
        // cli-progress prints "NFs" for its own estimate while the value does not change, as between two reads of a file.
        remaining: done === 0 ? "?" : formatSeconds((seconds * ((total ?? done) - done)) / done),
      });
    },
    stop: () => bar.stop(),
  };
}

/** Formats a duration: `9s`, `2m05s`. */
function formatSeconds(seconds: number): string {
  const rounded = Math.ceil(seconds);
  if (rounded < 60) return `${rounded}s`;
  return `${Math.floor(rounded / 60)}m${String(rounded % 60).padStart(2, "0")}s`;
}
