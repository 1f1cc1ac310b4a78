import { batch, computed, effect, signal, untracked } from "@preact/signals";
import type { NewPlant, PlantId } from "../../domain/plant.ts";
import { place } from "./location.ts";
import { explain, session } from "./session.ts";

/** Plants that one request brings: little enough to be shown at once, enough for some screens. */
const PAGE_LENGTH = 1_000;
/** Where the list ends at last: no browser shows an element of more than some ten million pixels. */
const MAX_LOADED = 250_000;

/** What is loaded of the plants with the tag of the {@link place}, in the order of the ids. */
export const plants = signal<readonly NewPlant[]>([]);
/** Whether more is being loaded. */
export const isLoading = signal(false);
/** Why the last page could not be loaded; empty when it could. */
export const loadingFault = signal("");
/** Whether nothing remains on the server that is not loaded. */
export const isWhole = signal(false);
/** Whether so many are loaded that no more will be. */
export const isFull = computed(() => plants.value.length >= MAX_LOADED);
/** The plants that are ticked, among those that are loaded. */
export const selected = signal<ReadonlySet<PlantId>>(new Set());

/** The loaded plants with the text in their name that the {@link place} asks for, whatever its case. */
export const found = computed(() => {
  const wanted = fold(place.value.find);
  return wanted === "" ? plants.value : plants.value.filter(({ name }) => fold(name).includes(wanted));
});

/** The tags of the loaded plants, some hundred at most. */
export const knownTags = computed(() => {
  const tags = new Set<string>();
  for (const { tag } of plants.value) if (tag && tags.size < 300) tags.add(tag);
  return [...tags].sort((a, b) => a.localeCompare(b));
});

let stop = new AbortController();
let next: PlantId | undefined;
const tag = computed(() => place.value.tag);

/** Loads the list anew. */
export function reload(): void {
  stop.abort();
  stop = new AbortController();
  next = undefined;
  batch(() => {
    plants.value = [];
    selected.value = new Set();
    isLoading.value = false;
    isWhole.value = false;
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
  const { signal } = stop;
  if (isLoading.peek() || isWhole.peek() || isFull.peek()) return;
  batch(() => {
    isLoading.value = true;
    loadingFault.value = "";
  });
  try {
    const options = { tag: tag.peek(), after: next, limit: PAGE_LENGTH, signal };
    const page = await session.peek()?.client.listPage(options);
    if (signal.aborted || page === undefined) return;
    next = page.next;
    batch(() => {
      plants.value = plants.peek().concat(page.plants);
      isWhole.value = next === undefined;
    });
  } catch (error) {
    if (!signal.aborted) loadingFault.value = explain(error);
  } finally {
    if (!signal.aborted) isLoading.value = false;
  }
}

/** Loads all that remains, page by page. */
export async function loadAll(): Promise<void> {
  const { signal } = stop;
  while (!signal.aborted && !isWhole.peek() && !isFull.peek()) {
    await loadMore();
    if (loadingFault.peek() !== "") return;
  }
}

/** Shows plants that were just created, where they belong and as far as the list is loaded. */
export function show(created: readonly NewPlant[]): void {
  const all = new Map(plants.peek().map((plant) => [plant.id, plant]));
  const reach = isWhole.peek() ? undefined : plants.peek().at(-1)?.id;
  for (const plant of created) {
    const isReached = isWhole.peek() || (reach !== undefined && plant.id <= reach);
    if (isReached && (tag.peek() === undefined || plant.tag === tag.peek())) all.set(plant.id, plant);
  }
  plants.value = [...all.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Takes plants that were just deleted out of the list. */
export function hide(ids: ReadonlySet<PlantId>): void {
  batch(() => {
    plants.value = plants.peek().filter(({ id }) => !ids.has(id));
    selected.value = selected.peek().difference(ids);
  });
}

const fold = (text: string): string => text.normalize("NFKC").toLowerCase();
