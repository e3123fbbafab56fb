import { describe, expect, it } from 'vitest';
import { courierStatusTable } from '../schema/courier-status';
import { eventually, sleep, useRelayStage } from '../testing/relay-stage';
import { startRelay } from './courier-status';

const stage = useRelayStage(courierStatusTable, 'TRUNCATE outbox');
const intervalMs = 25;

async function status(id: string): Promise<unknown> {
  const [found] = await stage.database.query('SELECT status FROM outbox WHERE id = $1', [id]);
  return found?.status;
}

describe('the courier', () => {
  it('publishes in the order of creation', async () => {
    const second = await stage.add({}, new Date(Date.now() - 1_000));
    const first = await stage.add({}, new Date(Date.now() - 2_000));
    stage.play(startRelay({ ...stage.options, intervalMs }));
    await eventually(() => status(second), 'PROCESSED');
    expect((await stage.sink.deliveries('tested')).map((delivery) => delivery.eventId)).toEqual([first, second]);
  });

  it('rolls a batch back for one poison row, rows that are out included, and is cured by taking it away', async () => {
    const good = await stage.add({}, new Date(Date.now() - 3_000));
    const poison = await stage.add({}, new Date(Date.now() - 2_000));
    const behind = await stage.add({}, new Date(Date.now() - 1_000));
    await stage.sink.setFault({ outbox: 'tested', eventId: poison, mode: 'error', message: 'value out of range' });
    stage.play(startRelay({ ...stage.options, intervalMs }));
    await expect.poll(() => stage.delivered(good)).toBeGreaterThan(2);
    expect([await status(good), await status(poison), await status(behind)]).toEqual(['PENDING', 'PENDING', 'PENDING']);
    expect(await stage.delivered(behind)).toBe(0);
    await stage.database.query('DELETE FROM outbox WHERE id = $1', [poison]);
    await eventually(() => status(behind), 'PROCESSED');
    expect(await stage.delivered(behind)).toBe(1);
  });

  it('leaves nothing half done when it is killed', async () => {
    const id = await stage.add();
    await stage.sink.setFault({ outbox: 'tested', mode: 'timeout' });
    const relay = stage.play(startRelay({ ...stage.options, intervalMs }));
    await sleep(150);
    relay.kill();
    await eventually(
      () => stage.database.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'relay tested' AND datname = current_database()"),
      [],
    );
    await stage.database.query("UPDATE outbox SET status = 'PROCESSED' WHERE id = $1", [id]);
  });
});
