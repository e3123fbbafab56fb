/** Names as a person reads them: whatever the case, the underscores and the language. */

/** `OutboxMessage`, `outbox_message` and `OUTBOX-MESSAGE` as one: small letters without what stands between words. */
export const bare = (name: string): string => folded(name).replace(/[\s_.-]+/gu, '');

/** Small letters, one way of writing each character. */
export const folded = (name: string): string => name.normalize('NFC').toLowerCase();

/** The words of a name: `integrationEventLog` and `integration_event_log` are three. */
export function wordsOf(name: string): string[] {
  return name
    .normalize('NFC')
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[\s_.\-/]+/u)
    .filter((word) => word !== '');
}

/** A table as people and the configuration name it. */
export const tableText = (name: { schema: string; table: string }): string => `${name.schema}.${name.table}`;

const ID_LENGTH = 48;

/** An id for an outbox after its table: `order_outbox` is `order-outbox`; with its schema, then a number, where that is taken. */
export function slugOf({ schema, table }: { schema: string; table: string }, taken: readonly string[]): string {
  const own = sluggish(table) || 'outbox';
  const prefix = schema === 'public' ? '' : sluggish(schema);
  const free = [own, `${prefix}-${own}`.replace(/^-/, '').slice(0, ID_LENGTH)].find((one) => !taken.includes(one));
  if (free !== undefined) return free;
  for (let n = 2; ; n += 1) if (!taken.includes(`${own}-${n}`)) return `${own}-${n}`;
}

/** The words of a name that an id may hold, joined by dashes; letters beyond a to z are left out. */
function sluggish(name: string): string {
  const words = wordsOf(name).map((word) => word.normalize('NFD').replace(/[^a-z0-9]/g, ''));
  return words
    .filter((word) => word !== '')
    .join('-')
    .slice(0, ID_LENGTH)
    .replace(/-$/, '');
}
