import { batch, computed, effect, signal, untracked } from "@preact/signals";
import type { Plant, PlantId } from "../../domain/plant.ts";
import { location } from "./location.ts";
import { describeError, session } from "./session.ts";

/** Plants per request: few enough to render quickly, enough to fill several screens. */
const PAGE_LENGTH = 1_000;
/** Maximum number of plants listed: no browser renders an element taller than about ten million pixels. */
const MAX_LOADED = 250_000;

/** The loaded plants with the tag of the current {@link location}, by ascending id. */
export const plants = signal<readonly Plant[]>([]);
/** Whether a page is being loaded. */
export const isLoading = signal(false);
/** Why the last page could not be loaded; empty if it was. */
export const loadError = signal("");
/** Whether all plants are loaded. */
export const isComplete = signal(false);
/** Whether {@link MAX_LOADED} is reached, so that no more plants will be loaded. */
export const limitReached = computed(() => plants.value.length >= MAX_LOADED);
/** The ids of the selected plants. */
export const selected = signal<ReadonlySet<PlantId>>(new Set());

/** The loaded plants whose name contains the search text of the {@link location}, ignoring case. */
export const matches = computed(() => {
  const text = foldCase(location.value.find);
  return text === "" ? plants.value : plants.value.filter(({ name }) => foldCase(name).includes(text));
});

/** The tags of the loaded plants, at most 300. */
export const knownTags = computed(() => {
  const tags = new Set<string>();
  for (const { tag } of plants.value) if (tag && tags.size < 300) tags.add(tag);
  return [...tags].sort((a, b) => a.localeCompare(b));
});

let controller = new AbortController();
let cursor: PlantId | undefined;
const tag = computed(() => location.value.tag);

/** Clears the list and loads its first page. */
export function reload(): void {
  controller.abort();
  controller = new AbortController();
  cursor = undefined;
  batch(() => {
    plants.value = [];
    selected.value = new Set();
    isLoading.value = false;
    isComplete.value = false;
  });
  if (session.peek()?.canRead) loadMore();
}
effect(() => {
  session.value;
  tag.value;
  untracked(reload);
});

/** Loads the next page. */
export async function loadMore(): Promise<void> {
  const { signal } = controller;
  if (isLoading.peek() || isComplete.peek() || limitReached.peek()) return;
  batch(() => {
    isLoading.value = true;
    loadError.value = "";
  });
  try {
    const options = { tag: tag.peek(), after: cursor, limit: PAGE_LENGTH, signal };
    const page = await session.peek()?.client.listPage(options);
    if (signal.aborted || page === undefined) return;
    cursor = page.next;
    batch(() => {
      plants.value = plants.peek().concat(page.plants);
      isComplete.value = cursor === undefined;
    });
  } catch (error) {
    if (!signal.aborted) loadError.value = describeError(error);
  } finally {
    if (!signal.aborted) isLoading.value = false;
  }
}

/** Loads all remaining pages. */
export async function loadAll(): Promise<void> {
  const { signal } = controller;
  while (!signal.aborted && !isComplete.peek() && !limitReached.peek()) {
    await loadMore();
    if (loadError.peek() !== "") return;
  }
}

/** Inserts created plants in order. Skips those of another tag, and those on pages that are not loaded yet. */
export function addToList(created: readonly Plant[]): void {
  const all = new Map(plants.peek().map((plant) => [plant.id, plant]));
  const lastId = plants.peek().at(-1)?.id;
  for (const plant of created) {
    const isInRange = isComplete.peek() || (lastId !== undefined && plant.id <= lastId);
    if (isInRange && (tag.peek() === undefined || plant.tag === tag.peek())) all.set(plant.id, plant);
  }
  plants.value = [...all.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Removes deleted plants from the list and the selection. */
export function removeFromList(ids: ReadonlySet<PlantId>): void {
  batch(() => {
    plants.value = plants.peek().filter(({ id }) => !ids.has(id));
    selected.value = selected.peek().difference(ids);
  });
}

const foldCase = (text: string): string => text.normalize("NFKC").toLowerCase();
