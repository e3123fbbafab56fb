import { describe, expect, it } from 'vitest';
import { SERVICE_ENGINES } from '../database/engine';
import { workerStatusTable } from '../schema/worker-status';
import { eventually, sleep, useRelayStage } from '../testing/relay-stage';
import { startRelay } from './worker-status';
import type { SinkClient } from '../sink/client';
import { ENGINE_KEYS } from '@/lib/shared/model';

const intervalMs = 25;
/** How each server copies a table without its rows, and what it says of a column that is not there. */
const BARE = {
  postgres: { like: '(LIKE outbox_events INCLUDING ALL)', refusal: '"updated_at" does not exist' },
  mysql: { like: 'LIKE outbox_events', refusal: "Unknown column 'updated_at'" },
};
/** Claims that are under way, which they are for long only where they wait for a lock. */
const CLAIMING = {
  postgres:
    "SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE 'UPDATE outbox_events SET status = ''PROC%' AND wait_event_type = 'Lock'",
  mysql: "SELECT count(*) AS n FROM information_schema.processlist WHERE info LIKE 'UPDATE outbox_events SET status = ''PROC%'",
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

    /** A sink that answers once it is told to. */
    function held(): { sink: SinkClient; answer: () => void } {
      let answer = (): void => undefined;
      const told = new Promise<void>((resolve) => (answer = resolve));
      return { sink: { ...stage.sink, publish: (...message) => told.then(() => stage.sink.publish(...message)) }, answer };
    }

    it.each([
      ['success', 'none', 1],
      ['failure', 'error', 0],
    ] as const)('writes no %s to a row that is no longer its own', async (_, mode, delivered) => {
      await stage.sink.setFault({ outbox: 'tested', mode });
      const id = await stage.add();
      const { sink, answer } = held();
      const slow = stage.play(startRelay({ ...stage.options, sink, intervalMs: 600_000 }));
      await eventually(() => status(id), 'PROCESSING');
      await stage.query("UPDATE outbox_events SET status = 'HELD' WHERE id = $1", [id]);
      answer();
      await slow.stop();
      expect(await stage.query('SELECT status, processed_at FROM outbox_events')).toEqual([{ status: 'HELD', processed_at: null }]);
      expect(await stage.delivered(id)).toBe(delivered);
    });

    it('leaves a row that was released while it was sent to be sent again', async () => {
      const id = await stage.add();
      const { sink, answer } = held();
      const slow = stage.play(startRelay({ ...stage.options, sink, intervalMs: 600_000 }));
      await eventually(() => status(id), 'PROCESSING');
      await stage.query("UPDATE outbox_events SET status = 'PENDING' WHERE id = $1", [id]);
      answer();
      await slow.stop();
      expect(await status(id)).toBe('PENDING');
      stage.play(startRelay({ ...stage.options, intervalMs }));
      await eventually(() => status(id), 'PROCESSED');
      expect(await stage.delivered(id)).toBe(2);
    });

    it('rests only when it has sent all there was, or nothing of a full batch', async () => {
      for (let index = 0; index < 25; index += 1) await stage.add();
      stage.play(startRelay({ ...stage.options, intervalMs: 600_000 }));
      const left = "SELECT count(*) AS n FROM outbox_events WHERE status <> 'PROCESSED'";
      const open = async () => Number((await stage.query<{ n: unknown }>(left))[0]?.n);
      await eventually(open, 0);
      await stage.sink.setFault({ outbox: 'tested', mode: 'error', message: 'throttled' });
      for (let index = 0; index < 10; index += 1) await stage.add();
      const tired = stage.play(startRelay({ ...stage.options, intervalMs: 600_000 }));
      await eventually(() => stage.log.filter((line) => line.endsWith(': throttled')).length, 10);
      await tired.stop();
      expect(stage.log.filter((line) => line.endsWith(': throttled'))).toHaveLength(10);
    });

    it('goes on at once after a full batch that others won', async () => {
      for (let index = 0; index < 10; index += 1) await stage.add({}, new Date('2026-01-01T00:30:00Z'));
      const last = await stage.add();
      await stage.query('BEGIN');
      await stage.query("UPDATE outbox_events SET status = 'HELD' WHERE created_at < '2026-01-02'");
      stage.play(startRelay({ ...stage.options, intervalMs: 600_000 }));
      const claiming = async () => Number((await stage.database.query<{ n: unknown }>(CLAIMING[engine]))[0]?.n) > 0;
      await eventually(claiming, true).finally(() => stage.query('COMMIT'));
      await eventually(() => status(last), 'PROCESSED');
    });

    it('recovers no row that is out already', async () => {
      const [out, lost] = [await stage.add(), await stage.add()];
      const { before, now } = SERVICE_ENGINES[engine];
      await stage.query(`UPDATE outbox_events SET status = 'PROCESSING', updated_at = ${before('$1')}`, [120_000]);
      await stage.query(`UPDATE outbox_events SET processed_at = ${now}, updated_at = ${before('$1')} WHERE id = $2`, [120_000, out]);
      stage.play(startRelay({ ...stage.options, intervalMs, recoverEveryMs: 50, recoverAfterMs: 60_000 }));
      await eventually(() => status(lost), 'PROCESSED');
      expect(await status(out)).toBe('PROCESSING');
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
