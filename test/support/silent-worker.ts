/**
 * A supervisor with one worker that reports ready, closes its IPC channel and keeps running. Prints the metrics that the
 * supervisor gets from it in two requests: one while the channel may still be open, and one after that.
 */
import { openLog } from "../../src/observability/log.ts";
import { WorkerProcess } from "../../src/server/worker-process.ts";

if (process.send !== undefined) {
  process.send({ type: "ready", announcement: {} }, undefined, undefined, () => process.disconnect?.());
  setTimeout(() => {}, 10_000);
} else {
  const worker = new WorkerProcess(1, 0, openLog());
  await worker.ready;
  console.log(JSON.stringify([(await worker.metrics()) ?? "none", (await worker.metrics()) ?? "none"]));
  await worker.stop();
}
