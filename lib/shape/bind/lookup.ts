/** Names as people write them, found as the catalogue spells them. */

/** What a written name is in a catalogue: one name, several that fit as well as each other, or none. */
export type Found = { name: string } | { several: string[] } | null;

const squeezed = (name: string): string => name.toLowerCase().replaceAll('_', '');

/**
 * The name as the catalogue has it: exactly, then without regard to case, then without underscores too, each where only one
 * fits: EF Core's `CreatedAt`, Hibernate's `created_at` and PostgreSQL's folded `createdat` are one name.
 */
export function findName(written: string, known: Iterable<string>): Found {
  const names = [...known];
  if (names.includes(written)) return { name: written };
  for (const same of [(name: string) => name.toLowerCase(), squeezed]) {
    const fitting = names.filter((name) => same(name) === same(written));
    const [only] = fitting;
    if (fitting.length > 1) return { several: fitting };
    if (only !== undefined) return { name: only };
  }
  return null;
}
