import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSinkClient, type SinkControl } from './client';
import { startSink, type Sink } from './server';

let sink: Sink;
let client: SinkControl;

beforeEach(async () => {
  sink = await startSink();
  client = createSinkClient({ url: sink.url, timeoutMs: 1_000 });
});
afterEach(async () => {
  client.close();
  await sink.close();
});

const message = (eventId: string, type = 'order.created', outbox = 'orders') => ({
  outbox,
  eventId,
  type,
  dedupKey: `key-${eventId}`,
  body: '{}',
});

describe('the sink', () => {
  it('records every delivery, repeats included, and finds them by outbox and event', async () => {
    await client.publish(message('1'));
    await client.publish(message('1'));
    await client.publish(message('2', 'order.paid', 'escrow'));
    expect(await client.deliveries()).toHaveLength(3);
    expect(await client.deliveries('escrow')).toMatchObject([{ outbox: 'escrow', eventId: '2', dedupKey: 'key-2' }]);
    const [first] = await client.deliveries('orders', '1');
    expect(Date.parse(first?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(first?.startedAt ?? ''));
  });

  it('refuses, errs and times out by type, and records none of it', async () => {
    await client.setFault({ outbox: 'orders', type: 'order.paid', mode: 'refuse', message: 'broker 7 refuses {type}' });
    await client.setFault({ outbox: 'orders', type: 'order.sent', mode: 'error' });
    await client.setFault({ outbox: 'orders', type: 'order.lost', mode: 'timeout' });
    await expect(client.publish(message('1', 'order.paid'))).rejects.toThrow('broker 7 refuses order.paid');
    await expect(client.publish(message('1', 'order.sent'))).rejects.toThrow('internal error');
    await expect(client.publish(message('1', 'order.lost'))).rejects.toThrow('timed out after 1000 ms');
    await client.publish(message('1'));
    expect(await client.deliveries('orders')).toHaveLength(1);
  });

  it('lets the narrowest fault count, some times only, and takes faults away', async () => {
    await client.setFault({ outbox: 'orders', mode: 'error', message: 'all' });
    await client.setFault({ outbox: 'orders', eventId: '1', mode: 'error', message: 'one {eventId}', times: 2 });
    await expect(client.publish(message('2'))).rejects.toThrow('all');
    await expect(client.publish(message('1'))).rejects.toThrow('one 1');
    await client.setFault({ outbox: 'orders', eventId: '1', mode: 'none' });
    await expect(client.publish(message('1'))).rejects.toThrow('all');
    await client.setFault({ outbox: 'orders', mode: 'none' });
    await client.setFault({ outbox: 'orders', type: 'order.created', eventId: '1', mode: 'error' });
    await client.setFault({ outbox: 'orders', type: 'order.created', mode: 'none' });
    await client.publish(message('1'));
    await client.setFault({ outbox: 'orders', type: 'order.created', mode: 'error', times: 1 });
    await expect(client.publish(message('3'))).rejects.toThrow('internal error');
    await client.publish(message('3'));
    await client.setFault({ outbox: 'orders', mode: 'error', forMs: 1_000 });
    await expect(client.publish(message('4'))).rejects.toThrow('internal error');
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await client.publish(message('4'));
  });

  it('gives up at once when told to, and says what is wrong with a request', async () => {
    const given = new AbortController();
    await client.setFault({ outbox: 'orders', mode: 'timeout' });
    const lost = client.publish(message('1'), given.signal);
    given.abort();
    await expect(lost).rejects.toThrow('abort');
    const answer = await fetch(`${sink.url}/faults`, { method: 'POST', body: '{"outbox":"orders","mode":"explode"}' });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('mode');
    expect((await fetch(`${sink.url}/nothing`)).status).toBe(404);
  });
});
