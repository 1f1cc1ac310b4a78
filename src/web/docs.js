/*
 * The API reference: Swagger UI with exact 64-bit integers. Without JSON.rawJSON (before Chrome 114, Firefox 135,
 * Safari 18.4) it shows large integers rounded, but still sends request bodies as typed.
 */

const NUL = "\0";
/** Must match `state/session.ts`. */
const TOKEN_KEY = "plantstore.token";
const SCOPES_KEY = "plantstore.scopes";
/** Missing or wrong ARIA attributes in Swagger UI, by selector. */
const ARIA_FIXES = {
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

/** Patches JSON globally, because Swagger UI uses it in many places: unsafe integers become bigints and back. */
function makeJsonExact() {
  const parse = JSON.parse;
  const toBigInt = (_key, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
  JSON.parse = (text, reviver = toBigInt) => parse(text, reviver);
  BigInt.prototype.toJSON = function () {
    return JSON.rawJSON(String(this));
  };
}

/** Returns a copy of a JSON value with every leaf replaced. */
function mapLeaves(value, replace) {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, replace));
  if (typeof value !== "object" || value === null) return replace(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapLeaves(item, replace)]));
}

/** Swagger UI's reference resolver does not support bigints: they pass through it as strings with a NUL prefix. */
const pack = (value) => (typeof value === "bigint" ? NUL + value : value);
const unpack = (value) => (typeof value === "string" && value.startsWith(NUL) ? BigInt(value.slice(1)) : value);

/** Shows the bounds of int64 schemas: Swagger UI shows only bounds that are numbers. */
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
    // The resolver compares API descriptions by identity, so each must be packed only once.
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
        // By default Swagger UI parses the API description as YAML, which rounds large integers.
        parseToJson:
          (_original, { specActions, specSelectors }) =>
          (text) =>
            specActions.updateJsonSpec(JSON.parse(text || specSelectors.specStr())),
      },
    },
  },
  wrapComponents: { JSONSchema202012KeywordType: exactBounds },
});

/** Replaces links in operation headers by text: a link inside a button is not accessible. */
const deepLinkAsText =
  (_Original, { React: { createElement } }) =>
  ({ text }) =>
    createElement("span", null, text);

/** Shares the token with the web page through `sessionStorage`. */
const sharedToken = () => {
  const storeToken = (action, tokenOf) => (payload) => {
    const token = tokenOf(payload);
    if (token) sessionStorage.setItem(TOKEN_KEY, token);
    else sessionStorage.removeItem(TOKEN_KEY);
    sessionStorage.removeItem(SCOPES_KEY);
    return action(payload);
  };
  return {
    statePlugins: {
      auth: {
        wrapActions: {
          authorize: (action) => storeToken(action, ({ bearer }) => bearer?.value),
          logout: (action) => storeToken(action, () => undefined),
        },
      },
    },
    wrapComponents: { DeepLink: deepLinkAsText },
  };
};

function applyAriaFixes() {
  for (const [selector, attributes] of Object.entries(ARIA_FIXES)) {
    for (const element of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    }
  }
}
new MutationObserver(applyAriaFixes).observe(document.body, { childList: true, subtree: true });

const supportsExactJson = "rawJSON" in JSON;
if (supportsExactJson) makeJsonExact();

const reference = globalThis.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  displayRequestDuration: true,
  showCommonExtensions: true,
  validatorUrl: null,
  syntaxHighlight: false,
  plugins: supportsExactJson ? [sharedToken, exactIntegers] : [sharedToken],
  onComplete() {
    const token = sessionStorage.getItem(TOKEN_KEY);
    if (token !== null) reference.preauthorizeApiKey("bearer", token);
  },
});
