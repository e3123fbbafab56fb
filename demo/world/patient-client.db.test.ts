import { describe, expect, it } from 'vitest';
import { useTestDatabaseOf } from '@/scripts/testing/outbox';
import { patientClient } from './patient-client';
import { ENGINE_KEYS } from '@/lib/shared/model';

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Who a connection is to its server, and how somebody else ends it. */
const ENDING = {
  postgres: { me: 'SELECT pg_backend_pid() AS me', end: (me: string) => `SELECT pg_terminate_backend(${me})` },
  mysql: { me: 'SELECT connection_id() AS me', end: (me: string) => `KILL CONNECTION ${me}` },
};

describe.each(ENGINE_KEYS)('a patient client on %s', (engine) => {
  const database = useTestDatabaseOf(engine);
  const { me, end } = ENDING[engine];

  it('waits out an outage and goes on', async () => {
    const client = patientClient(database.url, async () => {
      await sleep(20);
      return true;
    });
    expect((await client.query<{ one: number }>('SELECT $1 + 1 AS one', [0])).rows.map(({ one }) => Number(one))).toEqual([1]);
    const { rows } = await client.query<{ me: string }>(me);
    await database.query(end(rows[0]?.me ?? ''));
    expect((await client.query<{ answer: string }>("SELECT 'again' AS answer")).rows).toEqual([{ answer: 'again' }]);
    await expect(client.query('SELECT nothing')).rejects.toThrow('nothing');
    await client.end();
  });

  it('ends although its connection was lost', async () => {
    const client = patientClient(database.url, () => Promise.resolve(false));
    const { rows } = await client.query<{ me: string }>(me);
    await database.query(end(rows[0]?.me ?? ''));
    await sleep(50);
    await client.end();
  });

  it('gives up when it is time to end', async () => {
    const client = patientClient(`${new URL(database.url).protocol}//nobody:x@127.0.0.1:1/none`, () => Promise.resolve(false));
    await expect(client.query('SELECT 1')).rejects.toThrow('ECONNREFUSED');
  });
});
