import { ERRORS } from "../domain/error.ts";
import { ID_MAX } from "../domain/plant.ts";

/** The texts and examples of the interface description. */

const errorTable = Object.values(ERRORS)
  .map(({ number, when }) => `| ${number} | ${when} |`)
  .join("\n");

/** What the description says before its operations. */
export const INTRODUCTION = `Plant Store keeps plants: create one, list those you have access to, delete one by id.

Every request under \`/plants\` needs \`Authorization: Bearer <token>\`. A token acts for one owner, and sees and changes that owner's plants only.

Ids are integers of 64 bits, exact at every hop. Many JSON parsers, JavaScript's own among them, round integers beyond 2^53: use one that does not, or the typed client.

Every failure, on any path, has the \`Error\` shape. An unknown path is 404; a method that a path does not have is 405 with \`Allow\`. A 5xx in answer to a write means that the outcome is unknown: ask again with the same \`Idempotency-Key\`.
`;

/** The description of `Error`, with every number. */
export const ERROR_DESCRIPTION = `The shape of every failure. The number is stable and never reused.

| error | when |
|---|---|
${errorTable}
`;

const header = (description: string, schema: Record<string, unknown>, example: string) => ({
  description,
  schema: { type: "string", ...schema },
  example,
});

const challenge = header(
  "What the credentials lack (RFC 6750).",
  { pattern: '^Bearer realm="plantstore"' },
  'Bearer realm="plantstore", error="invalid_token"',
);

/** The headers of the responses. */
export const HEADERS = {
  "X-Request-Id": {
    ...header("The id of this request, also in the server's log.", {}, "4fzyo82m-2n"),
    required: true,
  },
  "Cache-Control": header("Answers are never kept.", { const: "no-store" }, "no-store"),
  Link: header(
    "Where the list goes on (RFC 8288), relative to the request. Absent when no plant remains.",
    {},
    '</plants?limit=20&after=20>; rel="next"',
  ),
  Challenge: { ...challenge, required: true },
  OptionalChallenge: { ...challenge, description: `With \`${ERRORS.multiple_credentials.number}\` only.` },
  "Retry-After": {
    description: "Seconds after which to try again.",
    schema: { type: "integer", minimum: 0 },
    example: 1,
    required: true,
  },
  RateLimit: header(
    "What is left of the quota, and the seconds until there is more (draft-ietf-httpapi-ratelimit-headers-11).",
    { pattern: '^"[a-z-]+";r=\\d+;t=\\d+$' },
    '"requests";r=0;t=1',
  ),
  "RateLimit-Policy": header(
    "The quota, and the seconds that it is for.",
    { pattern: '^"[a-z-]+";q=\\d+;w=\\d+$' },
    '"requests";q=100;w=1',
  ),
};

const vine = { name: "Aristolochia californica", tag: "vine" };
const untagged = { name: "Clarkia unguiculata" };

/** Plants as they are answered. */
export const PLANT_EXAMPLES = { tagged: { value: vine }, untagged: { value: untagged } };

/** Plants as they are sent. */
export const NEW_PLANT_EXAMPLES = {
  tagged: { value: { id: 22, ...vine } },
  untagged: { value: { id: 23, ...untagged } },
  largestId: { value: { id: ID_MAX, ...vine } },
};

/** Lists as they are answered. */
export const LIST_EXAMPLES = {
  plants: { summary: "As it is by default", value: [vine, untagged] },
  withIds: {
    summary: "With `fields=id,name,tag`",
    value: [
      { id: 22, ...vine },
      { id: ID_MAX, ...untagged },
    ],
  },
};
