import pg from 'pg';
import { postgresFailure } from '@/lib/database/postgres/failure';
import type { Connection } from '../schema/table';

const TRY_AGAIN_MS = 500;

/** A connection as services have one: when the database goes away, every statement waits until it is back. */
export interface PatientClient extends Connection {
  end(): Promise<void>;
}

/** Opens when first used. `pause` answers false when it is time to end: the waiting statement then fails. */
export function patientClient(url: string, pause: (ms: number) => Promise<boolean>): PatientClient {
  let open: pg.Client | null = null;

  async function client(): Promise<pg.Client> {
    if (open !== null) return open;
    const fresh = new pg.Client({ connectionString: url, application_name: 'demo' });
    // A lost connection shows in the next statement; without a listener it would end the process.
    fresh.on('error', () => undefined);
    await fresh.connect();
    open = fresh;
    return fresh;
  }

  async function query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<R>> {
    for (;;) {
      try {
        return await (await client()).query<R>(text, values);
      } catch (error) {
        if (postgresFailure(error).code !== 'connection') throw error;
        void open?.end().catch(() => undefined);
        open = null;
        if (!(await pause(TRY_AGAIN_MS))) throw error;
      }
    }
  }

  return { query, end: async () => open?.end().catch(() => undefined) };
}
