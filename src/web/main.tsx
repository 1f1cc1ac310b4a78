import { render } from "preact";
import { App } from "./app.tsx";
import { resume } from "./session.ts";

resume();
// A link with a token that is opened in this very tab changes nothing but the fragment.
addEventListener("hashchange", resume);
render(<App />, document.getElementById("page") as HTMLElement);
