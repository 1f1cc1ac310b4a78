import { ERRORS } from "../domain/error.ts";
import { ID_MAX } from "../domain/plant.ts";

/** Texts and examples of the API description. */

const errorTable = Object.values(ERRORS)
  .map(({ number, meaning }) => `| ${number} | ${meaning} |`)
  .join("\n");

/** Introduction of the API description. */
export const INTRODUCTION = `Plant Store stores plants. Clients create plants, list the plants of their owner and delete plants by id.

All requests under \`/plants\` require \`Authorization: Bearer <token>\`. A token acts for one owner and can access only that owner's plants.

Ids are 64-bit integers and are always exact. Many JSON parsers, including JavaScript's \`JSON.parse\`, round integers above 2^53: use a parser that does not, or the typed client.

All error responses, on any path, have the \`Error\` schema. An unknown path returns 404. An unsupported method returns 405 with \`Allow\`. After a 5xx response to a write, the outcome is unknown: retry with the same \`Idempotency-Key\`.
`;

/** Description of the `Error` schema, with all error numbers. */
export const ERROR_DESCRIPTION = `Body of all error responses. Error numbers are stable and never reused.

| error | meaning |
|---|---|
${errorTable}
`;

const header = (description: string, schema: Record<string, unknown>, example: string) => ({
  description,
  schema: { type: "string", ...schema },
  example,
});

const challenge = header(
  "Authentication challenge (RFC 6750).",
  { pattern: '^Bearer realm="plantstore"' },
  'Bearer realm="plantstore", error="invalid_token"',
);

/** Response headers. */
export const HEADERS = {
  "X-Request-Id": {
    ...header("Request id, which also appears in the server's log.", {}, "4fzyo82m-2n"),
    required: true,
  },
  "Cache-Control": header("Responses must not be cached.", { const: "no-store" }, "no-store"),
  Link: header(
    "URL of the next page (RFC 8288), relative to the request URL. Absent on the last page.",
    {},
    '</plants?limit=20&after=20>; rel="next"',
  ),
  Challenge: { ...challenge, required: true },
  OptionalChallenge: { ...challenge, description: `Only with error \`${ERRORS.multiple_credentials.number}\`.` },
  "Retry-After": {
    description: "Seconds to wait before a retry.",
    schema: { type: "integer", minimum: 0 },
    example: 1,
    required: true,
  },
  RateLimit: header(
    "Remaining quota, and seconds until it increases (draft-ietf-httpapi-ratelimit-headers-11).",
    { pattern: '^"[a-z-]+";r=\\d+;t=\\d+$' },
    '"requests";r=0;t=1',
  ),
  "RateLimit-Policy": header(
    "Quota, and its time window in seconds.",
    { pattern: '^"[a-z-]+";q=\\d+;w=\\d+$' },
    '"requests";q=100;w=1',
  ),
};

const vine = { name: "Aristolochia californica", tag: "vine" };
const untagged = { name: "Clarkia unguiculata" };

/** Examples of plants in responses. */
export const PLANT_EXAMPLES = { tagged: { value: vine }, untagged: { value: untagged } };

/** Examples of plants in create requests. */
export const NEW_PLANT_EXAMPLES = {
  tagged: { value: { id: 22, ...vine } },
  untagged: { value: { id: 23, ...untagged } },
  largestId: { value: { id: ID_MAX, ...vine } },
};

/** Examples of lists. */
export const LIST_EXAMPLES = {
  plants: { summary: "Default fields", value: [vine, untagged] },
  withIds: {
    summary: "With `fields=id,name,tag`",
    value: [
      { id: 22, ...vine },
      { id: ID_MAX, ...untagged },
    ],
  },
};
