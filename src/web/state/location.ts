import { signal } from "@preact/signals";

/** The views of the page. */
const VIEWS = ["plants", "overview", "import"] as const;
/** One of {@link VIEWS}. */
export type View = (typeof VIEWS)[number];

/** What the address says: so a reload, a bookmark and the browser's way back lead to the same place. */
export interface Place {
  readonly view: View;
  /** Only plants with exactly this tag; `""` is a tag too. */
  readonly tag: string | undefined;
  /** Only plants with this in their name. */
  readonly find: string;
}

/** Where the page is. */
export const place = signal(readPlace());
addEventListener("popstate", () => {
  place.value = readPlace();
});

/** Goes to another place; with `isSame` the browser's way back skips the one that is left. */
export function go(change: Partial<Place>, { isSame = false } = {}): void {
  history[isSame ? "replaceState" : "pushState"](null, "", hrefOf(change));
  place.value = readPlace();
}

/** The address of the place that differs from this one by `change`. */
export function hrefOf(change: Partial<Place>): string {
  const { view, tag, find } = { ...place.peek(), ...change };
  const query = new URLSearchParams();
  if (view !== "plants") query.set("view", view);
  if (tag !== undefined) query.set("tag", tag);
  if (find !== "") query.set("find", find);
  return query.size === 0 ? "/" : `/?${query}`;
}

function readPlace(): Place {
  const query = new URLSearchParams(location.search);
  return {
    view: VIEWS.find((view) => view === query.get("view")) ?? "plants",
    tag: query.get("tag") ?? undefined,
    find: query.get("find") ?? "",
  };
}
