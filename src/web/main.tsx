import { render } from "preact";
import { App } from "./components/app.tsx";
import { restoreSession } from "./state/session.ts";

restoreSession();
render(<App />, document.getElementById("page") as HTMLElement);
