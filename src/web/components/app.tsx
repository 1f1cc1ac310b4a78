import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import icon from "../icon.svg";
import { location, type View } from "../state/location.ts";
import { type Session, session, signOut } from "../state/session.ts";
import { ApiView } from "./api-view.tsx";
import { BottomBars } from "./bottom-bars.tsx";
import { currentDialog, openDialog } from "./dialog.tsx";
import { ImportView } from "./import-view.tsx";
import { Overview } from "./overview.tsx";
import { PlantsView } from "./plants-view.tsx";
import { Button, EmptyState, Link } from "./primitives.tsx";
import { SignIn, SignInDialog } from "./sign-in.tsx";

const VIEWS = {
  plants: { name: "Plants", isAllowed: () => true, component: PlantsView },
  overview: { name: "Overview", isAllowed: (session?: Session) => session?.canRead, component: Overview },
  import: { name: "Import", isAllowed: (session?: Session) => session?.canWrite, component: ImportView },
  api: { name: "API", isAllowed: () => true, component: ApiView },
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
  const requested = location.value.view;
  const view = VIEWS[requested].isAllowed(session.value) ? requested : "plants";
  return session.value === undefined && view !== "api" ? <SignIn /> : <Page view={view} />;
}

function Page({ view }: { view: View }) {
  const { name, component: ViewComponent } = VIEWS[view];
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${name} · Plant Store`;
    // Moving the focus from the followed link makes screen readers announce the new view.
    if (document.activeElement !== document.body) main.current?.focus();
  }, [name]);
  return (
    <>
      <Header current={view} />
      <p role="status" class={isOnline.value ? "" : "banner"}>
        {!isOnline.value && "You are offline. The plants shown may be out of date."}
      </p>
      <main ref={main} tabIndex={-1}>
        <ViewComponent />
      </main>
      <BottomBars />
      {currentDialog.value}
    </>
  );
}

function Header({ current }: { current: View }) {
  const isSignedIn = session.value !== undefined;
  return (
    <header class="page-header row">
      <img src={icon} alt="" width="28" height="28" />
      <p class="brand">Plant Store</p>
      <nav aria-label="Views">
        {Object.entries(VIEWS).map(
          ([view, { name, isAllowed }]) =>
            isAllowed(session.value) && (
              <Link
                key={view}
                to={{ view: view as View, tag: undefined, find: "" }}
                aria-current={view === current ? "page" : undefined}
              >
                {name}
              </Link>
            ),
        )}
      </nav>
      {session.value?.canWrite === false && <p class="truncate tag">Read-only</p>}
      <Button icon="signOut" class="secondary" onClick={() => (isSignedIn ? signOut() : openDialog(<SignInDialog />))}>
        {isSignedIn ? "Sign out" : "Sign in"}
      </Button>
    </header>
  );
}

const UnsupportedBrowser = () => (
  <main class="centered">
    <h1>Plant Store</h1>
    <EmptyState title="This browser is too old" isError>
      It rounds large IDs, so it could show or delete the wrong plants. Use Chrome or Edge 125, Firefox 135, Safari 18.4
      or a newer version.
    </EmptyState>
  </main>
);
