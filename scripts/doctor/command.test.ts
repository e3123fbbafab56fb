import { expect, it } from 'vitest';
import type { Examination, Finding, Severity } from '@/lib/shared/doctor';
import { statusOfExaminations } from './command';

const finding = (severity: Severity, silenced = false): Finding => ({
  id: severity,
  check: severity,
  severity,
  subject: null,
  values: {},
  cure: null,
  silence: silenced ? { reason: 'known', actor: 'mina', at: '2026-11-21T00:00:00Z' } : null,
});
const examined = (findings: Finding[], problem: Examination['problem'] = null): Examination => ({
  outbox: 'a', name: 'A', database: 'd', engine: 'postgres', table: 'a', at: '2026-11-21T00:00:00Z', tookMs: 1, findings, tables: [], statisticsSince: null, unseen: [], problem,
}); // prettier-ignore

it.each([
  ['nothing found', [examined([])], 0],
  ['a note', [examined([finding('note')])], 0],
  ['something to watch', [examined([finding('note'), finding('watch')])], 10],
  ['something to act on, anywhere', [examined([finding('watch')]), examined([finding('act')])], 20],
  ['something to act on that is silenced', [examined([finding('act', true)])], 0],
  ['an outbox that is away', [examined([]), examined([], 'unavailable')], 1],
  ['an outbox that is away beside something worse', [examined([finding('watch')]), examined([], 'timeout')], 10],
])('the doctor ends by the worst open finding: %s', (_, examinations, status) => {
  expect(statusOfExaminations(examinations)).toBe(status);
});
