import { describe, expect, it } from 'vitest';
import { publishedAtTable } from '../schema/published-at';
import { eventually, sleep, useRelayStage } from '../testing/relay-stage';
import { startRelay } from './published-at';

const stage = useRelayStage(publishedAtTable, 'TRUNCATE outbox_events, outbox_dead');
const idleMs = 20;

async function row(id: string) {
  const [found] = await stage.database.query('SELECT attempt, published_at IS NOT NULL AS out FROM outbox_events WHERE id = $1', [id]);
  return found;
}

describe('the Kafka relay', () => {
  it('publishes with the dedup key', async () => {
    const id = await stage.add();
    stage.play(startRelay({ ...stage.options, idleMs }));
    await eventually(() => row(id), { attempt: 0, out: true });
    expect(await stage.sink.deliveries('tested', id)).toMatchObject([{ dedupKey: `key-${id}` }]);
  });

  it('moves a row to the dead letters at the tenth attempt, every column as it was', async () => {
    await stage.sink.setFault({ outbox: 'tested', mode: 'error', message: 'message too large' });
    const id = await stage.add();
    const [before] = await stage.database.query('SELECT payload, headers, dedup_key, created_at FROM outbox_events');
    stage.play(startRelay({ ...stage.options, idleMs }));
    await eventually(async () => (await stage.database.query('SELECT id FROM outbox_dead')).length, 1);
    const [dead] = await stage.database.query('SELECT *, died_at > created_at AS later FROM outbox_dead');
    expect(dead).toMatchObject({ ...before, id, attempt: 10, last_error: 'message too large', published_at: null, later: true });
    expect(await row(id)).toBeUndefined();
  });

  it('never gives up when the dead-letter move is switched off', async () => {
    await stage.sink.setFault({ outbox: 'tested', mode: 'error' });
    const id = await stage.add();
    stage.play(startRelay({ ...stage.options, idleMs: 1, maxAttempts: null }));
    await expect.poll(async () => Number((await row(id))?.attempt)).toBeGreaterThan(12);
  });

  it('has no back-off: a full batch of failing rows starves the rest', async () => {
    await stage.sink.setFault({ outbox: 'tested', type: 'order.paid', mode: 'error' });
    for (let n = 0; n < 3; n += 1) await stage.add({ type: 'order.paid' }, new Date(Date.now() - 60_000));
    const starved = await stage.add();
    stage.play(startRelay({ ...stage.options, idleMs, batch: 3, maxAttempts: null }));
    await sleep(300);
    expect(await row(starved)).toEqual({ attempt: 0, out: false });
  });

  it('holds no lock while it publishes, so a second relay sends the same event', async () => {
    await stage.sink.setFault({ outbox: 'tested', mode: 'error', delayMs: 100, times: 1 });
    const id = await stage.add();
    stage.play(startRelay({ ...stage.options, idleMs }));
    await sleep(50);
    await stage.database.query('UPDATE outbox_events SET headers = headers WHERE id = $1', [id]);
    stage.play(startRelay({ ...stage.options, idleMs }));
    await eventually(() => row(id).then((found) => found?.out), true);
  });
});
