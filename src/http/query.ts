import { AppError } from "../domain/error.ts";

/** Returns the encoded query of a URL, or an empty string. */
const queryOf = (url: string): string => {
  const start = url.indexOf("?");
  return start < 0 ? "" : url.slice(start + 1);
};

/**
 * Returns the query parameters with these names, decoded; ignores others. The values of a repeated `list` parameter are
 * joined with commas, because many generated clients repeat a parameter to send an array. Stricter than
 * `URLSearchParams`, which replaces invalid UTF-8 with U+FFFD.
 * @throws AppError `invalid_parameter` when another parameter is repeated, or a value is not percent-encoded UTF-8
 */
export function readQuery<Name extends string>(
  url: string,
  names: readonly Name[],
  list?: Name,
): Partial<Record<Name, string>> {
  const parameters: Partial<Record<Name, string>> = {};
  const query = queryOf(url);
  if (query === "") return parameters;
  for (const pair of query.split("&")) {
    const [name, value] = split(pair);
    if (!isOneOf(names, name)) continue;
    const earlier = parameters[name];
    if (earlier !== undefined && name !== list) throw new AppError("invalid_parameter", `${name} must not be repeated`);
    const text = decode(value);
    if (text === undefined) throw new AppError("invalid_parameter", `${name} must be percent-encoded UTF-8`);
    parameters[name] = earlier === undefined ? text : `${earlier},${text}`;
  }
  return parameters;
}

/** Returns the query of `url` with one parameter set and the others unchanged, encoded for a `Link` header. */
export function withParameter(url: string, name: string, value: string): string {
  const others = queryOf(url)
    .split("&")
    .filter((pair) => pair !== "" && split(pair)[0] !== name);
  return [...others, `${name}=${value}`].join("&").replace(/[^\x21\x23-\x3b\x3d\x3f-\x7e]+/g, encodeURIComponent);
}

/** Splits a pair into its name, with ASCII characters decoded, and its encoded value. */
function split(pair: string): [name: string, value: string] {
  const end = pair.indexOf("=");
  return end < 0 ? [decodeAscii(pair), ""] : [decodeAscii(pair.slice(0, end)), pair.slice(end + 1)];
}

/** Decodes ASCII characters only: parameter names are ASCII, and invalid UTF-8 would throw, which is slow. */
const decodeAscii = (text: string): string =>
  text.includes("%") ? text.replace(/%[0-7][0-9a-f]/gi, decodeURIComponent) : text;

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

const isOneOf = <Name extends string>(names: readonly Name[], name: string): name is Name =>
  (names as readonly string[]).includes(name);
