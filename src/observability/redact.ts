/** Matches a token of this server, or a part of one. */
const TOKEN = /plt_[0-9A-Za-z]+|[0-9A-Za-z]{36,}/gi;
/**
 * Matches a JWT if the match has a dot. The dot is optional in the expression to keep the search linear: if it were
 * required, the search would start over at each `ey` of a text without dots.
 */
const MAYBE_JWT = /ey[\w-]{10,}((?:\.|%(?:25)*2e)[\w.%-]*)?/gi;

/** Replaces everything in client-supplied text that may be a token or part of one, in any encoding, with `...`. */
export const redact = (text: string): string =>
  text
    .replace(MAYBE_JWT, (match, afterDot: string | undefined) => (afterDot === undefined ? match : "..."))
    .replace(TOKEN, "...");
