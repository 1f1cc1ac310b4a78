import { batch, signal } from "@preact/signals";
import { explain, patientClient } from "./session.ts";

/** How many plants have a tag; `undefined` stands for those without. */
export type Tally = ReadonlyMap<string | undefined, number>;

/** The plants by tag, as far as they are counted. */
export const tally = signal<Tally>(new Map());
/** How far the counting is; `failed` with a reason. */
export const counting = signal<{ status: "counting" | "done" | "failed"; total: number; fault?: string }>({
  status: "counting",
  total: 0,
});

/** Counts all plants, page by page. */
export async function countPlants(signal: AbortSignal): Promise<void> {
  const counts = new Map<string | undefined, number>();
  let total = 0;
  const tellSoFar = (status: "counting" | "done") =>
    batch(() => {
      tally.value = new Map(counts);
      counting.value = { status, total };
    });
  tellSoFar("counting");
  try {
    for await (const { tag } of patientClient().listPlants({ limit: 5_000, signal })) {
      counts.set(tag, (counts.get(tag) ?? 0) + 1);
      if (++total % 5_000 === 0) tellSoFar("counting");
    }
    tellSoFar("done");
  } catch (error) {
    if (!signal.aborted) counting.value = { status: "failed", total, fault: explain(error) };
  }
}
