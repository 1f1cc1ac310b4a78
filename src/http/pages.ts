import swaggerStyle from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import swaggerScript from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import docsStyle from "../web/docs.css" with { type: "file" };
import docsPage from "../web/docs.html" with { type: "file" };
import docsScript from "../web/docs.js" with { type: "file" };
import icon from "../web/icon.svg" with { type: "file" };
import style from "../web/style.css" with { type: "file" };
import welcomePage from "../web/welcome.html" with { type: "file" };

/** Where each file of the pages for people is, by the path it is served at. Nothing on them comes from elsewhere. */
export const PAGES: Readonly<Record<string, string>> = {
  "/": String(welcomePage),
  "/style.css": style,
  "/icon.svg": icon,
  "/docs": String(docsPage),
  "/docs/docs.css": docsStyle,
  "/docs/docs.js": docsScript,
  "/docs/swagger-ui.css": swaggerStyle,
  "/docs/swagger-ui-bundle.js": swaggerScript,
};
