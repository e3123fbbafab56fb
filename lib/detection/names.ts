/** Names as a person reads them: case and underscores do not matter, in any language. */

/** Makes `OutboxMessage`, `outbox_message` and `OUTBOX-MESSAGE` equal: lower case without separators. */
export const bare = (name: string): string => folded(name).replace(/[\s_.-]+/gu, '');

export const folded = (name: string): string => name.normalize('NFC').toLowerCase();

/** The words of a name: `integrationEventLog` and `integration_event_log` have three. */
export function wordsOf(name: string): string[] {
  return name
    .normalize('NFC')
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[\s_.\-/]+/u)
    .filter((word) => word !== '');
}

/** A table's name in the configuration and for people. */
export const tableText = (name: { schema: string; table: string }): string => `${name.schema}.${name.table}`;

const ID_LENGTH = 48;

/** A free id from the table's name: `order_outbox` → `order-outbox`; if taken with its schema, then with a number. */
export function slugOf({ schema, table }: { schema: string; table: string }, taken: readonly string[]): string {
  const own = sluggish(table) || 'outbox';
  const prefix = schema === 'public' ? '' : sluggish(schema);
  const free = [own, `${prefix}-${own}`.replace(/^-/, '').slice(0, ID_LENGTH)].find((one) => !taken.includes(one));
  if (free !== undefined) return free;
  for (let n = 2; ; n += 1) if (!taken.includes(`${own}-${n}`)) return `${own}-${n}`;
}

/** The words of a name joined by dashes; characters other than a-z and 0-9 are dropped. */
function sluggish(name: string): string {
  const words = wordsOf(name).map((word) => word.normalize('NFD').replace(/[^a-z0-9]/g, ''));
  const slug = words.filter((word) => word !== '').join('-');
  return slug.slice(0, ID_LENGTH).replace(/-$/, '');
}
