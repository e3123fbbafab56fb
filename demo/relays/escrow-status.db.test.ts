import { describe, expect, it } from 'vitest';
import { escrowStatusTable } from '../schema/escrow-status';
import { eventually, sleep, useRelayStage } from '../testing/relay-stage';
import { startRelay } from './escrow-status';

const stage = useRelayStage(escrowStatusTable, 'TRUNCATE p2p.transaction_outbox');
const intervalMs = 25;

async function row(id: string) {
  const [found] = await stage.database.query(
    'SELECT status, retry_count, error_message, processed_time IS NOT NULL AS done FROM p2p.transaction_outbox WHERE id = $1',
    [id],
  );
  return found;
}

describe('the escrow relay', () => {
  it('publishes once, counting the first attempt as one', async () => {
    const id = await stage.add({ type: 'order_create' });
    stage.play(startRelay({ ...stage.options, intervalMs }));
    await eventually(() => row(id), { status: 'processed', retry_count: 1, error_message: null, done: true });
    const [delivery] = await stage.sink.deliveries('tested', id);
    expect(delivery?.dedupKey).toBe(`key-${id}`);
    await sleep(100);
    expect(await stage.delivered(id)).toBe(1);
  });

  it('gives up at the fifth attempt with the last error', async () => {
    await stage.sink.setFault({ outbox: 'tested', type: 'order_complete', mode: 'error', message: 'node down' });
    const id = await stage.add({ type: 'order_complete' });
    stage.play(startRelay({ ...stage.options, intervalMs }));
    await eventually(() => row(id), { status: 'failed', retry_count: 5, error_message: 'node down', done: false });
  });

  it('fails a row put back without zeroing its count after exactly one more attempt', async () => {
    const id = await stage.add({ type: 'order_complete' });
    await stage.database.query("UPDATE p2p.transaction_outbox SET retry_count = 5, status = 'pending'");
    await stage.sink.setFault({ outbox: 'tested', mode: 'error' });
    stage.play(startRelay({ ...stage.options, intervalMs }));
    await eventually(() => row(id), { status: 'failed', retry_count: 6, error_message: 'internal error', done: false });
  });

  it('leaves a row processing when its handler answers false, and a type nobody handles', async () => {
    const nobody = await stage.add({ type: 'order_complete', payload: { releaseTo: null } });
    const unknown = await stage.add({ type: 'order_refund' });
    const relay = stage.play(startRelay({ ...stage.options, intervalMs }));
    const stuck = { status: 'processing', retry_count: 1, error_message: null, done: false };
    await eventually(() => row(nobody), stuck);
    await eventually(() => row(unknown), stuck);
    await sleep(100);
    expect(await row(nobody)).toEqual(stuck);
    expect(relay.switchedOff).toBe(false);
  });

  it('frees every processing row at its start, another instance’s too', async () => {
    const id = await stage.add({ type: 'order_create' });
    await stage.database.query("UPDATE p2p.transaction_outbox SET status = 'processing', retry_count = 1");
    stage.play(startRelay({ ...stage.options, intervalMs }));
    await eventually(() => row(id), { status: 'processed', retry_count: 2, error_message: null, done: true });
  });

  it('switches itself off for good when its row has been taken away while it was failing', async () => {
    await stage.sink.setFault({ outbox: 'tested', type: 'ad_create', mode: 'error', delayMs: 150 });
    const id = await stage.add({ type: 'ad_create' });
    const relay = stage.play(startRelay({ ...stage.options, intervalMs }));
    await eventually(async () => (await row(id))?.status, 'processing');
    await stage.database.query('DELETE FROM p2p.transaction_outbox WHERE id = $1', [id]);
    await eventually(() => relay.switchedOff, true);
    const later = await stage.add({ type: 'order_create' });
    await sleep(150);
    expect(await row(later)).toMatchObject({ status: 'pending', retry_count: 0 });
    expect(relay.alive).toBe(true);
  });

  it('leaves its row processing when it is killed', async () => {
    await stage.sink.setFault({ outbox: 'tested', mode: 'timeout' });
    const id = await stage.add({ type: 'order_create' });
    const relay = stage.play(startRelay({ ...stage.options, intervalMs }));
    await eventually(async () => (await row(id))?.status, 'processing');
    relay.kill();
    await sleep(400);
    expect(relay.alive).toBe(false);
    expect(await row(id)).toMatchObject({ status: 'processing', retry_count: 1, error_message: null });
  });
});
