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
    total === undefined ? `${verb} ${counts}` : `${verb} {bar} {percentage}% · ${counts} · {eta_formatted} left`;
  const bar = new SingleBar({ format, barCompleteChar: "█", barIncompleteChar: "░", hideCursor: true, fps: 10 });
  const startedMs = performance.now();
  bar.start(total ?? 0, 0, { plants: 0, rate: 0 });
  return {
    update(done, plants) {
      const seconds = Math.max((performance.now() - startedMs) / 1_000, 0.001);
      bar.update(done, {
        plants: plants.toLocaleString("en"),
        rate: Math.round(plants / seconds).toLocaleString("en"),
      });
    },
    stop: () => bar.stop(),
  };
}
