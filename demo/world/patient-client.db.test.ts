import { describe, expect, it } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { patientClient } from './patient-client';

describe('a patient client', () => {
  const database = useTestDatabase();
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  it('waits out an outage and goes on', async () => {
    const client = patientClient(database.url, async () => {
      await sleep(20);
      return true;
    });
    expect((await client.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await database.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    expect((await client.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await expect(client.query('SELECT nothing')).rejects.toThrow('nothing');
    await client.end();
  });

  it('gives up when it is time to end', async () => {
    const client = patientClient('postgres://nobody:x@127.0.0.1:1/none', () => Promise.resolve(false));
    await expect(client.query('SELECT 1')).rejects.toThrow('ECONNREFUSED');
  });
});
