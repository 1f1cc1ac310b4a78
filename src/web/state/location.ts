import { signal } from "@preact/signals";

/** The views of the page. */
const VIEWS = ["plants", "overview", "import", "api"] as const;
/** One of {@link VIEWS}. */
export type View = (typeof VIEWS)[number];

/** The state kept in the URL, so that reload, bookmarks and the Back button restore it. */
export interface PageLocation {
  readonly view: View;
  /** Shows only plants with exactly this tag; `""` is a tag too. */
  readonly tag: string | undefined;
  /** Shows only plants whose name contains this text. */
  readonly find: string;
}

/** The path of the view `api`. The other views share `/`. */
const API_PATH = "/docs";

/** The current location. */
export const location = signal(readLocation());
addEventListener("popstate", () => {
  location.value = readLocation();
});

/** Changes the location; `replace` overwrites the current history entry instead of adding one. */
export function navigate(change: Partial<PageLocation>, { replace = false } = {}): void {
  history[replace ? "replaceState" : "pushState"](null, "", hrefOf(change));
  location.value = readLocation();
}

/** Returns the URL of the current location with `change` applied. */
export function hrefOf(change: Partial<PageLocation>): string {
  const { view, tag, find } = { ...location.peek(), ...change };
  if (view === "api") return API_PATH;
  const query = new URLSearchParams();
  if (view !== "plants") query.set("view", view);
  if (tag !== undefined) query.set("tag", tag);
  if (find !== "") query.set("find", find);
  return query.size === 0 ? "/" : `/?${query}`;
}

function readLocation(): PageLocation {
  const query = new URLSearchParams(window.location.search);
  const view = window.location.pathname === API_PATH ? "api" : query.get("view");
  return {
    view: VIEWS.find((each) => each === view) ?? "plants",
    tag: query.get("tag") ?? undefined,
    find: query.get("find") ?? "",
  };
}
