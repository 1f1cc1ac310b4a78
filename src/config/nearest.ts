/** Maximum edit distance of a typing mistake. */
const MAX_EDITS = 3;

/** Returns the candidate with the smallest edit distance to `text`; `undefined` when it exceeds `MAX_EDITS`. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates.map((candidate) => ({ candidate, edits: editDistance(text, candidate) }));
  const [best] = ranked.sort((a, b) => a.edits - b.edits);
  return best !== undefined && best.edits <= MAX_EDITS ? best.candidate : undefined;
}

/** Counts inserted, deleted and replaced characters (Levenshtein distance). */
function editDistance(from: string, to: string): number {
  const firstRow = Array.from({ length: to.length + 1 }, (_, column) => column);
  const lastRow = [...from].reduce((above, letter, row) => {
    const current = [row + 1];
    for (const [column, other] of [...to].entries()) {
      const [left, diagonal, up] = [current[column], above[column], above[column + 1]] as [number, number, number];
      current.push(Math.min(left + 1, up + 1, diagonal + (letter === other ? 0 : 1)));
    }
    return current;
  }, firstRow);
  return lastRow[to.length] as number;
}
