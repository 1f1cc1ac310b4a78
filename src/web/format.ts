/** Formats a count with its noun: `1 plant`, `12,000 plants`. */
export const formatCount = (number: number, singular: string, plural = `${singular}s`): string =>
  `${number.toLocaleString("en")} ${number === 1 ? singular : plural}`;

/** Returns a text unchanged if any of it is visible, otherwise its code points. */
export const visibleText = (text: string): string =>
  /[^\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text) ? text : codePoints([...text]);

/** Returns the distinct invisible and bidirectional control characters of a text, as `U+202E U+200B`. */
export const invisibleCharacters = (text: string): string =>
  codePoints([...new Set(text.match(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu))]);

const codePoints = (characters: readonly string[]): string =>
  characters.map((each) => `U+${each.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`).join(" ");

/** Returns the label of a tag, including a missing or empty one. */
export const tagLabel = (tag: string | undefined): string =>
  tag === undefined ? "no tag" : tag === "" ? "empty tag" : visibleText(tag);
