import { defineShape } from '@/lib/shape/shape';

/** Rows of a table that is too large to be tried whole; the newest `KEYED_WAITING` of them wait. */
export const KEYED_ROWS = 250_000;
export const KEYED_WAITING = 60_000;

/** A table that knows waiting from published by one column, which may lead an index. */
export const KEYED = defineShape({
  key: 'inline',
  label: 'keyed',
  origin: 'test',
  engines: ['postgres', 'mysql'],
  table: 'keyed',
  columns: { id: 'id', type: 'kind', createdAt: 'made', publishedAt: 'sent' },
  states: [
    { state: 'published', when: { column: 'sent', isNull: false } },
    { state: 'pending', when: { column: 'sent', isNull: true } },
  ],
});
