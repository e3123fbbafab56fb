/** A console that is told to end finishes what it writes of its own, and refuses the next of it, before its store is closed. */
import { expect, it } from 'vitest';
import { endConsole, getConsole } from '@/lib/server/console';
import type { Call } from '@/scripts/testing/console';
import type { RouteHandler } from '@/lib/server/route';
import { POST as mark } from './marks/route';
import { DELETE as lift } from './doctor/silences/route';
import { PUT as changes } from './outboxes/[outbox]/changes/route';
import { POST as prove } from './outboxes/[outbox]/proof/route';
import { useInstalledEscrow } from '@/scripts/testing/installed-escrow';

const { console, store } = useInstalledEscrow();

const params = { outbox: 'escrow' };
const WRITES: [string, RouteHandler, Call][] = [
  ['prove', prove, { method: 'POST', params, body: {} }],
  ['mark', mark, { method: 'POST', body: { kind: 'note', text: 'the last one' } }],
  ['doctor_lift', lift, { method: 'DELETE', path: '/?outbox=escrow&finding=f1' }],
  ['turn_changes_off', changes, { method: 'PUT', params, body: { on: false, reason: 'the last one' } }],
];

it('marks, silences, the switch and proofs that are under way are answered, and later ones refused with a clear word', async () => {
  const send = ([, handler, call]: (typeof WRITES)[number]): Promise<Response> => console.callAs('admin', handler, call);
  await getConsole();
  await store.query(`INSERT INTO doctor_silence (outbox, finding, reason, actor_id, actor_name) VALUES ('escrow', 'f1', 'why', 'a', 'a')`);
  await console.callAs('admin', mark, { method: 'POST', body: { kind: 'note', text: 'so that there is a token' } });
  // The entry of each in the audit takes until the test opens the gate.
  await store.query('CREATE TABLE gate (open boolean)');
  await store.query(`CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    WHILE NOT EXISTS (SELECT FROM gate) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NULL; END $$`);
  await store.query('CREATE TRIGGER held AFTER INSERT ON audit_entry FOR EACH STATEMENT EXECUTE FUNCTION held()');
  const first: Promise<Response>[] = [];
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
  for (const write of WRITES) {
    first.push(send(write));
    await expect.poll(() => store.query(waiting)).toHaveLength(first.length);
  }
  const ended = endConsole();
  for (const write of WRITES) {
    const refused = await send(write);
    expect([write[0], refused.status, refused.headers.get('retry-after')]).toEqual([write[0], 503, '5']);
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('The console is ending') as string });
  }
  await store.query('INSERT INTO gate VALUES (true)');
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await ended;
  const kept = await store.query<{ operation: string }>(`SELECT operation FROM audit_entry WHERE reason <> 'so that there is a token'`);
  expect(kept.map(({ operation }) => operation).sort()).toEqual(WRITES.map(([name]) => name).sort());
});
