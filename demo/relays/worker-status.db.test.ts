import { describe, expect, it } from 'vitest';
import { SERVICE_ENGINES } from '../database/engine';
import { workerStatusTable } from '../schema/worker-status';
import { eventually, sleep, useRelayStage } from '../testing/relay-stage';
import { startRelay } from './worker-status';
import { ENGINE_KEYS } from '@/lib/shared/model';

const intervalMs = 25;
/** How each server copies a table without its rows, and what it says of a column that is not there. */
const BARE = {
  postgres: { like: '(LIKE outbox_events INCLUDING ALL)', refusal: '"updated_at" does not exist' },
  mysql: { like: 'LIKE outbox_events', refusal: "Unknown column 'updated_at'" },
};

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const stage = useRelayStage(workerStatusTable(true, engine), 'TRUNCATE TABLE outbox_events');

  async function status(id: string): Promise<unknown> {
    const [found] = await stage.query<{ status: string }>('SELECT status FROM outbox_events WHERE id = $1', [id]);
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
      await stage.query(`UPDATE outbox_events SET updated_at = ${SERVICE_ENGINES[engine].before('$1')}`, [120_000]);
      await eventually(() => status(id), 'PROCESSED');
    });

    it('writes success by id although the row was released meanwhile, so that it may go out twice', async () => {
      await stage.sink.setFault({ outbox: 'tested', mode: 'timeout' });
      const id = await stage.add();
      const slow = stage.play(startRelay({ ...stage.options, intervalMs: 10_000 }));
      await eventually(() => status(id), 'PROCESSING');
      await stage.query("UPDATE outbox_events SET status = 'PENDING' WHERE id = $1", [id]);
      await stage.sink.setFault({ outbox: 'tested', mode: 'none' });
      stage.play(startRelay({ ...stage.options, intervalMs }));
      await eventually(() => status(id), 'PROCESSED');
      await slow.stop();
      expect(await status(id)).toMatch('P');
    });

    it('keeps times as they are in UTC, whatever the zone of the server', async () => {
      const id = await stage.add({}, new Date('2026-01-01T00:30:00.900Z'));
      stage.play(startRelay({ ...stage.options, intervalMs }));
      await eventually(() => status(id), 'PROCESSED');
      const { now } = SERVICE_ENGINES[engine];
      const [row] = await stage.query(
        `SELECT created_at < '2026-01-01 00:30:02' AND created_at >= '2026-01-01 00:30:00' AS created, processed_at > ${SERVICE_ENGINES[engine].before('$1')} AND processed_at <= ${now} AS processed FROM outbox_events WHERE id = $2`,
        [60_000, id],
      );
      expect(Object.values(row ?? {}).map(Boolean)).toEqual([true, true]);
    });
  });

  describe('the SQS worker on a table without updated_at', () => {
    it('works, but its recovery job does not', async () => {
      await stage.query(`CREATE TABLE bare ${BARE[engine].like}`);
      await stage.query('ALTER TABLE bare DROP COLUMN updated_at');
      await stage.query(
        "INSERT INTO bare (event_type, payload, status) VALUES ('order.created', '{}', 'PENDING'), ('order.paid', '{}', 'PROCESSING')",
      );
      stage.play(startRelay({ ...stage.options, intervalMs, table: 'bare', withUpdatedAt: false, recoverEveryMs: 30, recoverAfterMs: 1 }));
      await eventually(
        () => stage.query('SELECT event_type, status FROM bare ORDER BY id'),
        [
          { event_type: 'order.created', status: 'PROCESSED' },
          { event_type: 'order.paid', status: 'PROCESSING' },
        ],
      );
      await eventually(() => stage.log.some((line) => line.includes(BARE[engine].refusal)), true);
    });
  });
});
