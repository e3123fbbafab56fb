import type { Check } from '../check';
import { nameOf } from '../trend';

/** Payload and error columns that cannot hold every character: an event with one fails to be written, or loses it. */
export const charsetCheck: Check = {
  id: 'charset',
  engines: ['mysql'],
  examine({ outbox, facts }) {
    const { main } = facts;
    const narrow = (['payload', 'headers', 'error', 'aggregateId', 'dedupKey'] as const).flatMap((role) => {
      const column = main.columns.get(outbox.main.roles[role]?.column.name ?? '');
      return column?.charset == null || /^(utf8mb4|utf16|utf32|binary)$/i.test(column.charset) ? [] : [column];
    });
    if (narrow.length === 0) return [];
    const values = { table: nameOf(main), columns: narrow.map(({ name }) => name).join(', '), charset: narrow[0]?.charset ?? null };
    return [{ severity: 'watch', values, cure: `ALTER TABLE ${main.quoted} CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;` }];
  },
};
