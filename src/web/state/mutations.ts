import { batch, signal } from "@preact/signals";
import { randomKey } from "../../client/client.ts";
import { PlantStoreError } from "../../client/index.ts";
import type { Plant, PlantId } from "../../domain/plant.ts";
import { formatCount, visibleText } from "../format.ts";
import { type Notification, notification, notify } from "./notification.ts";
import { addToList, plants, removeFromList, selected } from "./plants.ts";
import { describeError, session } from "./session.ts";

/** Concurrent requests: a browser opens at most 6 connections to one host. */
const CONCURRENCY = 6;

/** The ids of the plants that are being deleted. */
export const deleting = signal<ReadonlySet<PlantId>>(new Set());
/** Progress of a bulk operation; `undefined` if none is running. */
export const bulkProgress = signal<{ text: string; done: number; total: number; stop(): void } | undefined>();

/** The deletion that the current notification can undo. */
let undoable: { notification: Notification; plants: readonly Plant[] } | undefined;

/** Creates a plant. Retries must pass the same idempotency `key`. */
export async function addPlant(plant: Plant, key: string): Promise<void> {
  await session.peek()?.client.createPlant(plant, { idempotencyKey: key });
  addToList([plant]);
  notify({ ...subjectOf([plant]), text: "added" });
}

/** Deletes the selected plants. */
export function deleteSelected(): void {
  deletePlants(plants.peek().filter(({ id }) => selected.peek().has(id)));
}

/** Deletes plants. Undo also restores earlier deletions whose notification is still shown. */
export async function deletePlants(chosen: readonly Plant[]): Promise<void> {
  const client = session.peek()?.client;
  const targets = chosen.filter(({ id }) => !deleting.peek().has(id));
  if (client === undefined || targets.length === 0) return;
  deleting.value = deleting.peek().union(idsOf(targets));
  const { done, missing, errors } = await runBulk("Deleting", targets, ({ id }) => client.deletePlant(id));
  batch(() => {
    removeFromList(idsOf([...done, ...missing]));
    deleting.value = deleting.peek().difference(idsOf(targets));
  });
  const earlier = undoable !== undefined && notification.peek() === undoable.notification ? undoable.plants : [];
  const deleted = [...earlier, ...done];
  const errorText = `${formatCount(errors.length, "plant")} not deleted. ${errors[0]}`;
  const failure = errors.length === 0 ? {} : { isError: true, text: errorText };
  if (deleted.length === 0) return notify(errors.length === 0 ? undefined : { text: "", ...failure });
  const key = `undo-${randomKey()}`;
  const action = { label: "Undo", run: () => restore(deleted, key) };
  undoable = { notification: { ...subjectOf(deleted), text: "deleted", action, ...failure }, plants: deleted };
  notify(undoable.notification);
}

/** Undoes the deletion in the current notification. */
export function undo(): void {
  if (undoable !== undefined && notification.peek() === undoable.notification) undoable.notification.action?.run();
}

/** Creates deleted plants again with their ids. The idempotency `key` makes it safe to retry. */
async function restore(deleted: readonly Plant[], key: string): Promise<void> {
  const client = session.peek()?.client;
  if (client === undefined) return;
  notify(undefined);
  const options = { idempotencyKey: key };
  const { done, errors } = await runBulk("Restoring", deleted, (plant) => client.createPlant(plant, options));
  addToList(done);
  if (errors.length === 0) return notify({ ...subjectOf(done), text: "restored" });
  const remaining = deleted.filter((plant) => !done.includes(plant));
  const action = { label: "Try again", run: () => restore(remaining, key) };
  notify({ text: `${formatCount(remaining.length, "plant")} not restored. ${errors[0]}`, isError: true, action });
}

/** Sends one request per plant. Continues after the server rejects a plant; stops on any other error. */
async function runBulk(text: string, targets: readonly Plant[], send: (plant: Plant) => Promise<unknown>) {
  const done: Plant[] = [];
  /** Plants that the server did not find: another client deleted them first. */
  const missing: Plant[] = [];
  const errors: string[] = [];
  const queue = targets.values();
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  async function worker(): Promise<void> {
    for (const plant of queue) {
      try {
        await send(plant);
        done.push(plant);
      } catch (error) {
        const isRejection = error instanceof PlantStoreError && error.status < 429 && error.status !== 401;
        if (isRejection && error.code === "plant_not_found") missing.push(plant);
        else errors.push(describeError(error));
        isStopped ||= !isRejection;
      }
      if (isStopped) return;
      const total = targets.length;
      if (total > CONCURRENCY) bulkProgress.value = { text, done: done.length, total, stop };
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  bulkProgress.value = undefined;
  return { done, missing, errors };
}

const idsOf = (plants: readonly Plant[]): Set<PlantId> => new Set(plants.map(({ id }) => id));

const subjectOf = (plants: readonly Plant[]): Pick<Notification, "subject"> => ({
  subject: plants.length === 1 ? visibleText(plants[0]?.name ?? "") : formatCount(plants.length, "plant"),
});
