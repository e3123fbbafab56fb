import { beforeEach, describe, expect, it } from 'vitest';
import { useTestConsole } from '@/scripts/testing/console';
import type { DoctorSnapshot } from '@/lib/shared/doctor';
import { useTestDatabase } from '@/scripts/testing/database';
import { POST as EXAMINE } from './examinations/route';
import { GET } from './route';
import { DELETE, POST } from './silences/route';

const database = useTestDatabase(async ({ query }) => {
  // No key of its own that is unique, and a superuser looks at it.
  await query(`CREATE TABLE a (id uuid PRIMARY KEY, aggregate_type text NOT NULL, aggregate_id text NOT NULL, event_type text NOT NULL, payload jsonb NOT NULL, headers jsonb,
    dedup_key text, created_at timestamptz NOT NULL DEFAULT now(), published_at timestamptz, attempt smallint NOT NULL DEFAULT 0)`);
});
const { call, callAs } = useTestConsole(
  () => database.url,
  () => `databases: {d: {url: '${database.url}'}}\noutboxes: [{id: a, database: d, table: a, shape: published-at}]\n`,
);

const examined = async (): Promise<DoctorSnapshot> => {
  const answer = await callAs('viewer', EXAMINE, { method: 'POST', body: { outbox: 'a' } });
  expect(answer.status).toBe(200);
  return (await answer.json()) as DoctorSnapshot;
};
const silence = (role: 'viewer' | 'operator', body: unknown): Promise<Response> => callAs(role, POST, { method: 'POST', body });
const audited = (): Promise<unknown[]> =>
  database.query('select operation, outcome, outbox, reason from audit_entry order by recorded_at, id');

beforeEach(() => database.query('delete from doctor_silence; delete from audit_entry'));

describe('the doctor over HTTP', () => {
  it('answers findings as JSON, Markdown and CSV, the cure in each', async () => {
    const snapshot = await examined();
    expect(snapshot.examinations[0]?.findings.map(({ id }) => id)).toEqual(['role_too_wide:reader', 'dedup_key:dedup_key']);
    const text = async (format: string): Promise<string> => (await callAs('viewer', GET, { path: `/?outbox=a&format=${format}` })).text();
    expect(JSON.parse(await text('json'))).toMatchObject({ examinations: [{ outbox: 'a' }] });
    for (const format of ['markdown', 'csv']) {
      expect(await text(format)).toContain('CREATE UNIQUE INDEX CONCURRENTLY');
      expect(await text(format)).toContain('may hold the same key twice');
    }
  });

  it('lets an operator silence a finding with a reason and lift it; both are audited', async () => {
    await examined();
    expect((await silence('operator', { outbox: 'a', finding: 'dedup_key:dedup_key', reason: 'our own test' })).status).toBe(200);
    const after = (await (await callAs('viewer', GET, { path: '/?outbox=a' })).json()) as DoctorSnapshot;
    expect(after.examinations[0]?.findings.map(({ id, silence: why }) => [id, why?.reason ?? null])).toEqual([
      ['role_too_wide:reader', null],
      ['dedup_key:dedup_key', 'our own test'],
    ]);
    const lift = { method: 'DELETE', path: '/?outbox=a&finding=dedup_key:dedup_key' };
    expect((await callAs('operator', DELETE, lift)).status).toBe(200);
    expect((await callAs('operator', DELETE, lift)).status).toBe(404);
    expect(await audited()).toEqual([
      { operation: 'doctor_silence', outcome: 'applied', outbox: 'a', reason: 'our own test' },
      { operation: 'doctor_lift', outcome: 'applied', outbox: 'a', reason: 'dedup_key:dedup_key' },
    ]);
  });

  it('lets nobody silence without a reason, a finding that is not there, or without the role', async () => {
    await examined();
    expect((await silence('operator', { outbox: 'a', finding: 'dedup_key:dedup_key', reason: ' x ' })).status).toBe(400);
    expect((await silence('operator', { outbox: 'a', finding: 'no_such', reason: 'our own test' })).status).toBe(404);
    expect((await silence('operator', { outbox: 'b', finding: 'dedup_key', reason: 'our own test' })).status).toBe(404);
    expect((await silence('viewer', { outbox: 'a', finding: 'dedup_key:dedup_key', reason: 'our own test' })).status).toBe(403);
    expect((await call(GET)).status).toBe(401);
    expect(await audited()).toEqual([{ operation: 'doctor_silence', outcome: 'refused', outbox: 'a', reason: 'our own test' }]);
  });
});
