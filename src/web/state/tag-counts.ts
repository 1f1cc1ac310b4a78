import { batch, signal } from "@preact/signals";
import { describeError, longTaskClient } from "./session.ts";

/** The number of plants per tag; the key `undefined` is for plants without a tag. */
export const tagCounts = signal<ReadonlyMap<string | undefined, number>>(new Map());
/** Progress of the count. */
export const countProgress = signal<{ status: "counting" | "done" | "failed"; total: number; error?: string }>({
  status: "counting",
  total: 0,
});

/** Counts all plants by tag, page by page. */
export async function countPlants(signal: AbortSignal): Promise<void> {
  const counts = new Map<string | undefined, number>();
  let total = 0;
  const update = (status: "counting" | "done") =>
    batch(() => {
      tagCounts.value = new Map(counts);
      countProgress.value = { status, total };
    });
  update("counting");
  try {
    for await (const { tag } of longTaskClient().listPlants({ limit: 5_000, signal })) {
      counts.set(tag, (counts.get(tag) ?? 0) + 1);
      if (++total % 5_000 === 0) update("counting");
    }
    update("done");
  } catch (error) {
    if (!signal.aborted) countProgress.value = { status: "failed", total, error: describeError(error) };
  }
}
