import { SERVICE_ENGINES } from '../database/engine';
import { startRelay } from '../relays/worker-status';
import type { FaultScript, FaultStage } from './script';

const KILLED_AGO_MS = 11 * 60_000;
/** Two minutes after the start another worker dies, and then every four: a row is stuck whenever the recovery job has freed the last. */
const FIRST_KILL_MS = 2 * 60_000;
const KILL_EVERY_MS = 4 * 60_000;

/** Workers are killed while they are sending: their rows are still PROCESSING, until the recovery job of the others frees them. */
export const ordersSqsFaults: FaultScript = {
  async before(stage) {
    const { client, now, outbox } = stage;
    const id = await leaveRow(stage, new Date(now - KILLED_AGO_MS - 2_000));
    const { before } = SERVICE_ENGINES[outbox.table.engine];
    await client.query(`UPDATE outbox_events SET updated_at = ${before('$2')} WHERE id = $1`, [id, KILLED_AGO_MS]);
  },

  async during(stage) {
    for (let ms = FIRST_KILL_MS; await stage.pause(ms); ms = KILL_EVERY_MS) await leaveRow(stage);
  },
};

/** A worker takes a row, cannot send it and is killed. Another may have been faster: then the row is that one's, and goes out later. */
async function leaveRow({ client, sink, story, outbox, connectionString, pause }: FaultStage, createdAt?: Date): Promise<string> {
  const worker = startRelay({ connectionString, sink, outbox: outbox.id, intervalMs: 5, batch: 1, recoverEveryMs: null });
  try {
    // Nobody sees the row before the sink knows what to do with it.
    await client.query('BEGIN');
    const id = await outbox.table.insert(client, story.next(), createdAt);
    await sink.setFault({ outbox: outbox.id, eventId: id, mode: 'timeout' });
    await client.query('COMMIT');
    for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 50) {
      const { rows } = await client.query<{ status: string }>('SELECT status FROM outbox_events WHERE id = $1', [id]);
      if (rows[0]?.status === 'PROCESSING') break;
      await pause(50);
    }
    worker.kill();
    await sink.setFault({ outbox: outbox.id, eventId: id, mode: 'none' });
    return id;
  } finally {
    worker.kill();
  }
}
