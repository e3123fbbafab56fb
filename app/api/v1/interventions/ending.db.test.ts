/** A console that is told to end finishes the intervention under way, refuses the next one, and says so. */
import { expect, it } from 'vitest';
import { endConsole, getConsole } from '@/lib/server/console';
import type { InterventionResult } from '@/lib/shared/model';
import { GET as event } from '../outboxes/[outbox]/events/[event]/route';
import { POST as intervene } from '../outboxes/[outbox]/interventions/route';
import { DEAD, useInstalledEscrow } from '@/scripts/testing/installed-escrow';

const { console, observed, store } = useInstalledEscrow();

it('an intervention whose commit takes long is answered, and the next one is refused with a clear word', async () => {
  const params = { outbox: 'escrow', event: DEAD };
  const seen = (await (await console.callAs('operator', event, { params })).json()) as { event: { version: string } };
  const body = { operation: 'requeue', events: [{ id: DEAD, version: seen.event.version }], reason: 'the node is back' };
  const send = (key: string) =>
    console.callAs('operator', intervene, { method: 'POST', params: { outbox: 'escrow' }, headers: { 'idempotency-key': key }, body });
  // The commit takes until the test opens the gate; a lock would be waited for half a second only.
  await observed.query('CREATE TABLE gate (open boolean); GRANT SELECT ON gate TO PUBLIC');
  await observed.query(`CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    WHILE NOT EXISTS (SELECT FROM public.gate) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NULL; END $$`);
  await observed.query(
    `CREATE CONSTRAINT TRIGGER held AFTER INSERT ON outbox_console.intervention DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION held()`,
  );
  const first = send('k1');
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
  await expect.poll(() => observed.query(waiting)).toHaveLength(1);
  // Figures know that somebody acts before they can see a changed row.
  expect(await store.query('SELECT outbox FROM acted')).toEqual([{ outbox: 'escrow' }]);
  await getConsole();
  const ended = endConsole();
  const second = await send('k2');
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await second.json()).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('this try changed nothing') as string });
  await observed.query('INSERT INTO gate VALUES (true)');
  const answer = await first;
  expect(answer.status).toBe(200);
  expect((await answer.json()) as InterventionResult).toMatchObject({ outcome: 'applied', changed: [DEAD] });
  await ended;
  const third = await send('k3');
  expect([third.status, ((await third.json()) as { detail: string }).detail]).toEqual([
    503,
    expect.stringContaining('The console is ending'),
  ]);
  expect(await observed.query('SELECT key FROM outbox_console.intervention')).toEqual([{ key: 'k1' }]);
});
