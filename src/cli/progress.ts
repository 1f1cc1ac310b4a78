import { SingleBar } from "cli-progress";

/** A progress bar on standard error, when that is a terminal; nothing otherwise. */
export interface Progress {
  /** `done` of what the bar counts, and how many plants that came to. */
  update(done: number, plants: number): void;
  stop(): void;
}

/** `total` in what the bar counts, bytes or plants; `undefined` shows a count and a rate only. */
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
