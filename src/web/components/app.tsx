import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import icon from "../icon.svg";
import { currentDialog } from "../state/dialog.ts";
import { location, type View } from "../state/location.ts";
import { type Session, session, signOut } from "../state/session.ts";
import { AddDialog } from "./add-dialog.tsx";
import { BottomBars } from "./bottom-bars.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { ImportView } from "./import-view.tsx";
import { Overview } from "./overview.tsx";
import { PlantDialog } from "./plant-dialog.tsx";
import { PlantsView } from "./plants-view.tsx";
import { Button, EmptyState, Link } from "./primitives.tsx";
import { SignIn } from "./sign-in.tsx";

const VIEWS = {
  plants: { name: "Plants", isAllowed: () => true, component: PlantsView },
  overview: { name: "Overview", isAllowed: ({ canRead }: Session) => canRead, component: Overview },
  import: { name: "Import", isAllowed: ({ canWrite }: Session) => canWrite, component: ImportView },
};

const isOnline = signal(navigator.onLine);
for (const event of ["online", "offline"]) {
  addEventListener(event, () => {
    isOnline.value = navigator.onLine;
  });
}

/** The root component. */
export function App() {
  if (!("rawJSON" in JSON)) return <UnsupportedBrowser />;
  if (session.value === undefined) return <SignIn />;
  return <SignedIn session={session.value} />;
}

function SignedIn({ session }: { session: Session }) {
  const requested = location.value.view;
  const view = VIEWS[requested].isAllowed(session) ? requested : "plants";
  const { name, component: ViewComponent } = VIEWS[view];
  const dialog = currentDialog.value;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${name} · Plant Store`;
    // Moving the focus makes screen readers announce the new view.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [name]);
  return (
    <>
      <Header session={session} current={view} />
      <p role="status" class={isOnline.value ? "" : "banner"}>
        {!isOnline.value && "You are offline. The plants shown may be out of date."}
      </p>
      <main ref={main} tabIndex={-1}>
        <ViewComponent />
      </main>
      <BottomBars />
      {dialog === "add" && <AddDialog />}
      {dialog === "export" && <ExportDialog />}
      {typeof dialog === "object" && <PlantDialog key={String(dialog.id)} plant={dialog} />}
    </>
  );
}

function Header({ session, current }: { session: Session; current: View }) {
  return (
    <header class="page-header row">
      <img src={icon} alt="" width="28" height="28" />
      <p class="brand">Plant Store</p>
      <nav aria-label="Views">
        {Object.entries(VIEWS).map(
          ([view, { name, isAllowed }]) =>
            isAllowed(session) && (
              <Link key={view} to={{ view: view as View, tag: undefined, find: "" }} isCurrent={view === current}>
                {name}
              </Link>
            ),
        )}
        <a href="/docs">API</a>
      </nav>
      {!session.canWrite && <p class="truncate tag">Read-only</p>}
      <Button icon="signOut" class="secondary" aria-label="Sign out" title="Sign out" onClick={() => signOut()}>
        <span>Sign out</span>
      </Button>
    </header>
  );
}

const UnsupportedBrowser = () => (
  <main class="centered">
    <h1 class="visually-hidden">Plant Store</h1>
    <EmptyState title="This browser is too old" isError>
      It rounds large IDs, so it could show or delete the wrong plants. Use Chrome or Edge 125, Firefox 135, Safari 18.4
      or a newer version.
    </EmptyState>
  </main>
);
