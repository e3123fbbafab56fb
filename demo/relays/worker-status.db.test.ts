import { describe, expect, it } from 'vitest';
import { workerStatusTable } from '../schema/worker-status';
import { eventually, sleep, useRelayStage } from '../testing/relay-stage';
import { startRelay } from './worker-status';

const stage = useRelayStage(workerStatusTable(true), 'TRUNCATE outbox_events');
const intervalMs = 25;

async function status(id: string): Promise<unknown> {
  const [found] = await stage.database.query('SELECT status FROM outbox_events WHERE id = $1', [id]);
  return found?.status;
}

describe('the SQS worker', () => {
  it('publishes by id, with the id as deduplication id', async () => {
    const id = await stage.add();
    stage.play(startRelay({ ...stage.options, intervalMs }));
    await eventually(() => status(id), 'PROCESSED');
    expect(await stage.sink.deliveries('tested', id)).toMatchObject([{ dedupKey: id }]);
  });

  it('tries a failing row for ever and forgets that it did', async () => {
    await stage.sink.setFault({ outbox: 'tested', mode: 'error', message: 'throttled', times: 8 });
    const id = await stage.add();
    stage.play(startRelay({ ...stage.options, intervalMs }));
    await eventually(() => status(id), 'PROCESSED');
    expect(stage.log.filter((line) => line === `event ${id}: throttled`)).toHaveLength(8);
  });

  it('leaves its rows processing when it is killed, and the recovery job of another frees them by age', async () => {
    await stage.sink.setFault({ outbox: 'tested', mode: 'timeout' });
    const id = await stage.add();
    const first = stage.play(startRelay({ ...stage.options, intervalMs }));
    await eventually(() => status(id), 'PROCESSING');
    first.kill();
    await stage.sink.setFault({ outbox: 'tested', mode: 'none' });
    stage.play(startRelay({ ...stage.options, intervalMs, recoverEveryMs: 50, recoverAfterMs: 60_000 }));
    await sleep(200);
    expect(await status(id)).toBe('PROCESSING');
    await stage.database.query("UPDATE outbox_events SET updated_at = now() - interval '2 minutes'");
    await eventually(() => status(id), 'PROCESSED');
  });

  it('writes success by id although the row was released meanwhile, so that it may go out twice', async () => {
    await stage.sink.setFault({ outbox: 'tested', mode: 'timeout' });
    const id = await stage.add();
    const slow = stage.play(startRelay({ ...stage.options, intervalMs: 10_000 }));
    await eventually(() => status(id), 'PROCESSING');
    await stage.database.query("UPDATE outbox_events SET status = 'PENDING' WHERE id = $1", [id]);
    await stage.sink.setFault({ outbox: 'tested', mode: 'none' });
    stage.play(startRelay({ ...stage.options, intervalMs }));
    await eventually(() => status(id), 'PROCESSED');
    await slow.stop();
    expect(await status(id)).toMatch('P');
  });
});

describe('the SQS worker on a table without updated_at', () => {
  it('works, but its recovery job does not', async () => {
    await stage.database.query('CREATE TABLE bare (LIKE outbox_events INCLUDING ALL)');
    await stage.database.query('ALTER TABLE bare DROP COLUMN updated_at');
    await stage.database.query(
      "INSERT INTO bare (event_type, payload, status) VALUES ('order.created', '{}', 'PENDING'), ('order.paid', '{}', 'PROCESSING')",
    );
    stage.play(startRelay({ ...stage.options, intervalMs, table: 'bare', withUpdatedAt: false, recoverEveryMs: 30, recoverAfterMs: 1 }));
    await eventually(
      () => stage.database.query('SELECT event_type, status FROM bare ORDER BY id'),
      [
        { event_type: 'order.created', status: 'PROCESSED' },
        { event_type: 'order.paid', status: 'PROCESSING' },
      ],
    );
    await eventually(() => stage.log.some((line) => line.includes('"updated_at" does not exist')), true);
  });
});
