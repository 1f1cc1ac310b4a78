import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import icon from "../icon.svg";
import { place, type View } from "../state/location.ts";
import { type Session, session, signOut } from "../state/session.ts";
import { AddDialog } from "./add-dialog.tsx";
import { Dock } from "./bottom-bars.tsx";
import { shown } from "./dialog.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { ImportView } from "./import-view.tsx";
import { Overview } from "./overview.tsx";
import { PlantDialog } from "./plant-dialog.tsx";
import { PlantsView } from "./plants-view.tsx";
import { Action, Blank, Link } from "./primitives.tsx";
import { SignIn } from "./sign-in.tsx";

const VIEWS = {
  plants: { name: "Plants", isFor: () => true, show: PlantsView },
  overview: { name: "Overview", isFor: ({ canRead }: Session) => canRead, show: Overview },
  import: { name: "Import", isFor: ({ canWrite }: Session) => canWrite, show: ImportView },
};

const isOnline = signal(navigator.onLine);
for (const event of ["online", "offline"]) {
  addEventListener(event, () => {
    isOnline.value = navigator.onLine;
  });
}

/** The whole page. */
export function App() {
  if (!("rawJSON" in JSON)) return <TooOld />;
  if (session.value === undefined) return <SignIn />;
  return <Garden session={session.value} />;
}

/** The page for whoever has signed in. */
function Garden({ session }: { session: Session }) {
  const wanted = place.value.view;
  const view = VIEWS[wanted].isFor(session) ? wanted : "plants";
  const { name, show: Shown } = VIEWS[view];
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${name} · Plant Store`;
    // Whoever does not see the page hears where the link has led.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [name]);
  return (
    <>
      <Header session={session} current={view} />
      <p role="status" class={isOnline.value ? "" : "banner"}>
        {!isOnline.value && "You are offline. What is shown may be old."}
      </p>
      <main ref={main} tabIndex={-1}>
        <Shown />
      </main>
      <Dock />
      {shown.value === "add" && <AddDialog />}
      {shown.value === "export" && <ExportDialog />}
      {typeof shown.value === "object" && <PlantDialog key={String(shown.value.id)} plant={shown.value} />}
    </>
  );
}

function Header({ session, current }: { session: Session; current: View }) {
  return (
    <header class="top row">
      <img src={icon} alt="" width="28" height="28" />
      <p class="brand">Plant Store</p>
      <nav aria-label="Views">
        {Object.entries(VIEWS).map(
          ([view, { name, isFor }]) =>
            isFor(session) && (
              <Link key={view} to={{ view: view as View, tag: undefined, find: "" }} isCurrent={view === current}>
                {name}
              </Link>
            ),
        )}
        <a href="/docs">API</a>
      </nav>
      {!session.canWrite && <p class="cut tag">Read only</p>}
      <Action icon="leave" class="quiet" aria-label="Forget token" title="Forget the token" onClick={() => signOut()}>
        <span>Forget token</span>
      </Action>
    </header>
  );
}

const TooOld = () => (
  <main class="middle">
    <h1 class="unseen">Plant Store</h1>
    <Blank title="This browser is too old" isFault>
      It would round long ids, and so show and delete the wrong plants. Chrome and Edge 125, Firefox 135, Safari 18.4
      and newer ones do not.
    </Blank>
  </main>
);
