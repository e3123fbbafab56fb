function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** Most words suggested because they contain the written one. */
const HOLDING_SHOWN = 4;

/** `; did you mean "table"?` for the nearest word or the few that contain the written one; otherwise `; known: a, b`. */
export function suggestion(word: string, known: readonly string[]): string {
  const lower = word.toLowerCase();
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(lower, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const nearest = ranked[0];
  if (nearest === undefined) return '';
  if (nearest.distance <= (word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3)))) return `; did you mean "${nearest.candidate}"?`;
  const bare = (text: string): string => text.toLowerCase().replace(/[-_. ]/g, '');
  const holding = bare(word).length < 4 ? [] : known.filter((candidate) => bare(candidate).includes(bare(word)));
  if (holding.length > 0 && holding.length <= HOLDING_SHOWN) return `; did you mean ${holding.map((one) => `"${one}"`).join(' or ')}?`;
  return `; known: ${known.join(', ')}`;
}
