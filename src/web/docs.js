/*
 * The reference page: Swagger UI, taught not to round integers of 64 bits. Where a browser has no JSON.rawJSON
 * (before Chrome 114, Firefox 135, Safari 18.4) the page shows them rounded, and still sends them as they were typed.
 */

const NUL = "\0";
/** As in session.ts. */
const TOKEN_KEY = "plantstore.token";
const SCOPES_KEY = "plantstore.scopes";
/** What Swagger UI leaves without a name or calls by a wrong one, by where it is. */
const MENDED = {
  ".examples-select-element": { "aria-label": "Example" },
  ".body-param__text": { "aria-label": "Request body" },
  ".close-modal": { "aria-label": "Close" },
  ".modal-btn.auth:not(.authorize, .btn-done)": { "aria-label": "Logout" },
  ".modal-btn.authorize": { "aria-label": "Authorize" },
  ".information-container": { role: "region", "aria-label": "About" },
  ".modal-ux": { role: "dialog", "aria-modal": "true", "aria-label": "Token" },
  ".opblock-tag, .modal-ux h3, .models > h4": { "aria-level": "2" },
  ".opblock h4, .modal-ux h4": { "aria-level": "3" },
  ".opblock h5, .opblock table h4": { "aria-level": "4" },
};

/** Swagger UI reads and writes JSON in many places: on this page, integers beyond 2^53 become bigint everywhere. */
function makeJsonExact() {
  const parse = JSON.parse;
  const exact = (_key, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
  JSON.parse = (text, reviver = exact) => parse(text, reviver);
  BigInt.prototype.toJSON = function () {
    return JSON.rawJSON(String(this));
  };
}

/** A copy of a JSON value with every leaf replaced. */
function mapLeaves(value, replace) {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, replace));
  if (typeof value !== "object" || value === null) return replace(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapLeaves(item, replace)]));
}

/** The resolver of references knows no bigint: they pass through it as marked strings. */
const pack = (value) => (typeof value === "bigint" ? NUL + value : value);
const unpack = (value) => (typeof value === "string" && value.startsWith(NUL) ? BigInt(value.slice(1)) : value);

/** The bounds of an integer, which Swagger UI shows for numbers only. */
const exactBounds = (Original, { React: { createElement, Fragment } }) =>
  function ExactBounds(props) {
    const { minimum, maximum } = props.schema ?? {};
    const isExact = typeof minimum === "bigint" && typeof maximum === "bigint";
    const className = "json-schema-2020-12__constraint json-schema-2020-12__constraint--number";
    const bounds = isExact && createElement("span", { className }, `[${minimum}, ${maximum}]`);
    return createElement(Fragment, null, createElement(Original, props), bounds);
  };

const exactIntegers = () => ({
  afterLoad() {
    const { resolveSubtree } = this.fn;
    // The resolver knows a description by its identity, so that each must be packed only once.
    const packed = new WeakMap();
    this.fn.resolveSubtree = async (description, ...rest) => {
      if (!packed.has(description)) packed.set(description, mapLeaves(description, pack));
      const resolved = await resolveSubtree(packed.get(description), ...rest);
      return { ...resolved, spec: mapLeaves(resolved.spec, unpack) };
    };
  },
  statePlugins: {
    spec: {
      wrapActions: {
        // Swagger UI would read the description as YAML, which rounds.
        parseToJson:
          (_original, { specActions, specSelectors }) =>
          (text) =>
            specActions.updateJsonSpec(JSON.parse(text || specSelectors.specStr())),
      },
    },
  },
  wrapComponents: { JSONSchema202012KeywordType: exactBounds },
});

/** A link to an operation would stand in the button that opens it, where neither can be told from the other. */
const plainPaths =
  (_Original, { React: { createElement } }) =>
  ({ text }) =>
    createElement("span", null, text);

/** The token is that of the page, and stays as long: what is entered on one is there on the other. */
const sharedToken = () => {
  const keep = (action, token) => (payload) => {
    const given = token(payload);
    if (given) sessionStorage.setItem(TOKEN_KEY, given);
    else sessionStorage.removeItem(TOKEN_KEY);
    sessionStorage.removeItem(SCOPES_KEY);
    return action(payload);
  };
  return {
    statePlugins: {
      auth: {
        wrapActions: {
          authorize: (action) => keep(action, ({ bearer }) => bearer?.value),
          logout: (action) => keep(action, () => undefined),
        },
      },
    },
    wrapComponents: { DeepLink: plainPaths },
  };
};

/** Mends what Swagger UI has drawn. */
function mend() {
  for (const [selector, attributes] of Object.entries(MENDED)) {
    for (const element of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    }
  }
}
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });

const canBeExact = "rawJSON" in JSON;
if (canBeExact) makeJsonExact();

const reference = globalThis.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  showCommonExtensions: true,
  validatorUrl: null,
  syntaxHighlight: false,
  plugins: canBeExact ? [sharedToken, exactIntegers] : [sharedToken],
  onComplete() {
    const token = sessionStorage.getItem(TOKEN_KEY);
    if (token !== null) reference.preauthorizeApiKey("bearer", token);
  },
});
