import { batch, signal } from "@preact/signals";
import { randomKey } from "../../client/client.ts";
import { PlantStoreError } from "../../client/index.ts";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { count, visible } from "../format.ts";
import { type Notice, notice, tell } from "./notification.ts";
import { hide, plants, selected, show } from "./plants.ts";
import { explain, session } from "./session.ts";

/** Requests on their way at a time: as many as a browser sends to one host. */
const IN_FLIGHT = 6;

/** The plants whose deletion is on its way. */
export const leaving = signal<ReadonlySet<PlantId>>(new Set());
/** Work on many plants: how far it is, and how to end it. */
export const work = signal<{ text: string; done: number; total: number; stop(): void } | undefined>();

/** What the shown notice can undo. */
let undoable: { notice: Notice; plants: readonly NewPlant[] } | undefined;

/** Creates a plant. The same `key` for every attempt at it: so it is never there twice. */
export async function addPlant(plant: NewPlant, key: string): Promise<void> {
  await session.peek()?.client.createPlant(plant, { idempotencyKey: key });
  show([plant]);
  tell({ ...naming([plant]), text: "added" });
}

/** Deletes the plants that are ticked. */
export function deleteSelected(): void {
  deletePlants(plants.peek().filter(({ id }) => selected.peek().has(id)));
}

/** Deletes plants, and offers to undo it, together with what was deleted just before. */
export async function deletePlants(chosen: readonly NewPlant[]): Promise<void> {
  const client = session.peek()?.client;
  const doomed = chosen.filter(({ id }) => !leaving.peek().has(id));
  if (client === undefined || doomed.length === 0) return;
  leaving.value = leaving.peek().union(idsOf(doomed));
  const { done, gone, faults } = await each("Deleting", doomed, ({ id }) => client.deletePlant(id));
  batch(() => {
    hide(idsOf([...done, ...gone]));
    leaving.value = leaving.peek().difference(idsOf(doomed));
  });
  const before = undoable !== undefined && notice.peek() === undoable.notice ? undoable.plants : [];
  const deleted = [...before, ...done];
  const fault =
    faults.length === 0 ? {} : { isFault: true, text: `${count(faults.length, "plant")} not deleted. ${faults[0]}` };
  if (deleted.length === 0) return tell(faults.length === 0 ? undefined : { text: "", ...fault });
  const key = `undo-${randomKey()}`;
  const action = { label: "Undo", run: () => restore(deleted, key) };
  undoable = { notice: { ...naming(deleted), text: "deleted", action, ...fault }, plants: deleted };
  tell(undoable.notice);
}

/** Undoes what the shown notice can undo. */
export function undo(): void {
  if (undoable !== undefined && notice.peek() === undoable.notice) undoable.notice.action?.run();
}

/** Creates deleted plants again, under their ids; however often it is tried, none of them is there twice. */
async function restore(deleted: readonly NewPlant[], key: string): Promise<void> {
  const client = session.peek()?.client;
  if (client === undefined) return;
  tell(undefined);
  const options = { idempotencyKey: key };
  const { done, faults } = await each("Restoring", deleted, (plant) => client.createPlant(plant, options));
  show(done);
  if (faults.length === 0) return tell({ ...naming(done), text: "restored" });
  const missing = deleted.filter((plant) => !done.includes(plant));
  const action = { label: "Try again", run: () => restore(missing, key) };
  tell({ text: `${count(missing.length, "plant")} not restored. ${faults[0]}`, isFault: true, action });
}

interface Outcome {
  readonly done: NewPlant[];
  /** Those that were not there: somebody else was faster. */
  readonly gone: NewPlant[];
  readonly faults: string[];
}

/** Does something to many plants, some at a time. What the server refuses is passed over; any other fault ends it. */
async function each(verb: string, chosen: readonly NewPlant[], act: (plant: NewPlant) => Promise<unknown>) {
  const outcome: Outcome = { done: [], gone: [], faults: [] };
  const queue = chosen.values();
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  async function worker(): Promise<void> {
    for (const plant of queue) {
      try {
        await act(plant);
        outcome.done.push(plant);
      } catch (error) {
        const isRefusal = error instanceof PlantStoreError && error.status < 429 && error.status !== 401;
        if (isRefusal && error.code === "plant_not_found") outcome.gone.push(plant);
        else outcome.faults.push(explain(error));
        isStopped ||= !isRefusal;
      }
      if (isStopped) return;
      const { length: done } = outcome.done;
      if (chosen.length > IN_FLIGHT) work.value = { text: verb, done, total: chosen.length, stop };
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  work.value = undefined;
  return outcome;
}

const idsOf = (plants: readonly NewPlant[]): Set<PlantId> => new Set(plants.map(({ id }) => id));

const naming = (plants: readonly NewPlant[]): Pick<Notice, "subject"> => ({
  subject: plants.length === 1 ? visible(plants[0]?.name ?? "") : count(plants.length, "plant"),
});
