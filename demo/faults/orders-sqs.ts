import { SERVICE_ENGINES } from '../database/engine';
import { startRelay } from '../relays/worker-status';
import type { FaultScript } from './script';

const KILLED_AGO_MS = 11 * 60_000;

/**
 * A worker was killed while it was sending: its row is still PROCESSING. Nobody frees it, as the recovery job ran in
 * that worker.
 */
export const ordersSqsFaults: FaultScript = {
  async before({ client, sink, story, outbox, connectionString, now, pause }) {
    const event = story.next();
    const id = await outbox.table.insert(client, event, new Date(now - KILLED_AGO_MS - 2_000));
    await sink.setFault({ outbox: outbox.id, eventId: id, mode: 'timeout' });
    const worker = startRelay({ connectionString, sink, outbox: outbox.id });
    for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 50) {
      const { rows } = await client.query<{ status: string }>('SELECT status FROM outbox_events WHERE id = $1', [id]);
      if (rows[0]?.status === 'PROCESSING') break;
      await pause(50);
    }
    worker.kill();
    await sink.setFault({ outbox: outbox.id, eventId: id, mode: 'none' });
    const { before } = SERVICE_ENGINES[outbox.table.engine];
    await client.query(`UPDATE outbox_events SET updated_at = ${before('$2')} WHERE id = $1`, [id, KILLED_AGO_MS]);
  },
};
