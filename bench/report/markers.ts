/**
 * Replaces the text between the comments `<!-- name -->` and `<!-- /name -->`.
 * @throws Error unless each comment occurs exactly once, in this order
 */
export function replaceBetween(text: string, name: string, replacement: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [before, rest, ...more] = text.split(begin);
  const [, after, ...others] = rest?.split(end) ?? [];
  if (before === undefined || after === undefined || more.length + others.length > 0) {
    throw new Error(`the page must have ${begin} and then ${end}, each once`);
  }
  return `${before}${begin}\n\n${replacement.trim()}\n\n${end}${after}`;
}
