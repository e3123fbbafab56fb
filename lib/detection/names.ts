/** Names as a person reads them: whatever the case, the underscores and the language. */

/** `OutboxMessage`, `outbox_message` and `OUTBOX-MESSAGE` as one: small letters without what stands between words. */
export function bare(name: string): string {
  return folded(name).replace(/[\s_.-]+/gu, '');
}

/** Small letters, one way of writing each character. */
export function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

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

/** What nearly all names begin with (`ob_` of `ob_id`, `ob_type`), so that it can be left out; empty when there is none. */
export function commonPrefix(names: readonly string[]): string {
  const counted = new Map<string, number>();
  for (const name of names) {
    const prefix = /^[\p{L}\p{N}]+_(?=.)/u.exec(folded(name))?.[0];
    if (prefix !== undefined) counted.set(prefix, (counted.get(prefix) ?? 0) + 1);
  }
  const [most] = [...counted].sort((a, b) => b[1] - a[1]);
  return most !== undefined && names.length >= 4 && most[1] >= names.length * 0.7 ? most[0] : '';
}

/** A table as people and the configuration name it. */
export function tableText(name: { schema: string; table: string }): string {
  return `${name.schema}.${name.table}`;
}
