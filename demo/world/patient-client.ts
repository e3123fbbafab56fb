import { serviceEngineFor } from '../database/engine';
import { type Answer, type Connection, type OpenConnection } from '../database/service';

const TRY_AGAIN_MS = 500;

/** A connection as services have one: when the database goes away, every statement waits until it is back. */
export interface PatientClient extends Connection {
  end(): Promise<void>;
}

/** Opens when first used. `pause` answers false when it is time to end: the waiting statement then fails. */
export function patientClient(url: string, pause: (ms: number) => Promise<boolean>): PatientClient {
  const engine = serviceEngineFor(url);
  let open: OpenConnection | null = null;

  async function query<Row extends object>(text: string, values?: unknown[]): Promise<Answer<Row>> {
    for (;;) {
      try {
        open ??= await engine.open(url);
        return await open.query<Row>(text, values);
      } catch (error) {
        if (!engine.isLost(error)) throw error;
        void open?.end().catch(() => undefined);
        open = null;
        if (!(await pause(TRY_AGAIN_MS))) throw error;
      }
    }
  }

  return { query, end: async () => open?.end().catch(() => undefined) };
}
