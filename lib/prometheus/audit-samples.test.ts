import { expect, it } from 'vitest';
import { auditSamples } from './samples';

const AT = '2026-11-21T10:00:00.000Z';

it('the audit of a database is complete, or lacks records, or nobody knows', () => {
  const common = { outboxes: [], since: null, late: false };
  const samples = auditSamples([
    { ...common, database: 'orders', lacking: 0, why: null, completeAt: AT },
    { ...common, database: 'lacking', lacking: 3, why: 'store', completeAt: AT },
    { ...common, database: 'new', lacking: null, why: 'looking', completeAt: null },
  ]);
  const told = (database: string): Record<string, number> =>
    Object.fromEntries(samples.flatMap(({ family, labels, value }) => (labels.database === database ? [[family, value]] : [])));
  const [complete, lacking, at] = [
    'outbox_console_audit_complete',
    'outbox_console_audit_lacking_records',
    'outbox_console_audit_complete_timestamp_seconds',
  ];
  expect(told('orders')).toEqual({ [complete]: 1, [lacking]: 0, [at]: Date.parse(AT) / 1_000 });
  expect(told('lacking')).toEqual({ [complete]: 0, [lacking]: 3, [at]: Date.parse(AT) / 1_000 });
  expect(told('new')).toEqual({ [complete]: 0 });
});
