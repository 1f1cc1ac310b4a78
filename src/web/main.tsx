import { render } from "preact";
import { App } from "./components/app.tsx";
import { resume } from "./state/session.ts";

resume();
render(<App />, document.getElementById("page") as HTMLElement);
