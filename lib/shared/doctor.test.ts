import { describe, expect, it } from 'vitest';
import { headlineOf, summaryOf, type Finding, type Severity } from './doctor';

const finding = (id: string, severity: Severity, silenced = false): Finding => ({
  id,
  check: id,
  severity,
  subject: null,
  values: {},
  cure: null,
  silence: silenced ? { reason: 'known', actor: 'mina', at: '2026-11-21T00:00:00Z' } : null,
});

describe('what is said of an outbox in a line', () => {
  it('names the worst finding and counts the others by severity, whatever their order', () => {
    const findings = [finding('c', 'note'), finding('b', 'act'), finding('a', 'act'), finding('d', 'watch')];
    expect(summaryOf(findings)).toMatchObject({ worst: { id: 'a' }, counts: { act: 2, watch: 1, note: 1 } });
    expect(headlineOf(findings)).toEqual({ severity: 'act', count: 4 });
  });

  it('leaves out what somebody has silenced', () => {
    const findings = [finding('a', 'act', true), finding('b', 'note')];
    expect(summaryOf(findings)).toMatchObject({ worst: { id: 'b' }, counts: { act: 0, watch: 0, note: 1 } });
    expect(headlineOf([finding('a', 'act', true)])).toBeNull();
    expect(summaryOf([])).toEqual({ worst: null, counts: { act: 0, watch: 0, note: 0 } });
  });
});
