/** A number of things, as people write it: `1 plant`, `12,000 plants`. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** A text as it can be shown: the code points of one that nobody could see. */
export const visible = (text: string): string =>
  /[^\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text) ? text : codePoints([...text]);

/** The characters of a text that are there and not seen, or that turn others around, as `U+202E U+200B`. */
export const hiddenIn = (text: string): string =>
  codePoints([...new Set(text.match(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu))]);

const codePoints = (characters: readonly string[]): string =>
  characters.map((each) => `U+${each.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`).join(" ");

/** A tag as it can be shown, also when there is none. */
export const tagText = (tag: string | undefined): string =>
  tag === undefined ? "no tag" : tag === "" ? "empty tag" : visible(tag);
