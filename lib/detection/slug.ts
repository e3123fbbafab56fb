import { bare, wordsOf } from './names';

const MOST = 48;

/** An id for an outbox after its table: `order_outbox` is `order-outbox`; with its schema, then a number, where that is taken. */
export function slugOf(
  name: { schema: string; table: string },
  taken: readonly string[],
  plainSchemas: readonly string[] = ['public'],
): string {
  const own = sluggish(name.table) || 'outbox';
  const withSchema = plainSchemas.includes(name.schema)
    ? own
    : [sluggish(name.schema), own]
        .filter((part) => part !== '')
        .join('-')
        .slice(0, MOST);
  const choices = [own, withSchema].filter((one) => one.length > 0);
  const free = choices.find((one) => !taken.includes(one));
  if (free !== undefined) return free;
  for (let n = 2; ; n += 1) if (!taken.includes(`${own}-${n}`)) return `${own}-${n}`;
}

/** The words of a name that an id may hold, joined by dashes; letters beyond a to z are left out. */
function sluggish(name: string): string {
  const words = wordsOf(name).map((word) =>
    bare(word)
      .normalize('NFD')
      .replace(/[^a-z0-9]/g, ''),
  );
  return words
    .filter((word) => word !== '')
    .join('-')
    .slice(0, MOST)
    .replace(/-$/, '');
}
