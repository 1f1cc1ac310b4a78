import { render } from "preact";
import { App } from "./app.tsx";
import { resume } from "./session.ts";

resume();
render(<App />, document.getElementById("page") as HTMLElement);
