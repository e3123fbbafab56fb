import { expect, test } from 'vitest';
import { parseAuditFilter, serialiseAuditFilter } from './audit-filter';

test('every field is read and written back', () => {
  const query =
    'outbox=escrow&event=e-1&actor=mina%40outbox.local&operation=requeue&action=0199a0c0-0000-7000-8000-000000000001&outcome=refused&from=2026-01-31T14%3A00%3A00Z&to=2026-02-01T00%3A00%3A00Z';
  expect(serialiseAuditFilter(parseAuditFilter(new URLSearchParams(query))).toString()).toBe(query);
});

test('what makes no sense is left out', () => {
  expect(parseAuditFilter(new URLSearchParams('outcome=perhaps&from=yesterday&actor=+&action=45&event=a%00b&state=dead&cursor=x'))).toEqual(
    {},
  );
});
