import { describe, expect, it } from 'vitest';
import { LISTEN_CHANNEL, listenNotifyTable } from '../schema/listen-notify';
import { eventually, sleep, useRelayStage } from '../testing/relay-stage';
import { startRelay } from './listen-notify';

const stage = useRelayStage(listenNotifyTable, 'TRUNCATE outbox, outbox_dead');

async function row(id: string) {
  const [found] = await stage.database.query('SELECT processed_at IS NOT NULL AS out, retry_count, last_error FROM outbox WHERE id = $1', [
    id,
  ]);
  return found;
}

const notify = (id: string) => stage.database.query('SELECT pg_notify($1, $2)', [LISTEN_CHANNEL, id]);

describe('the listening relay', () => {
  it('is woken by the trigger, and reads a backlog at its start', async () => {
    const waiting = await stage.add();
    const relay = stage.play(startRelay(stage.options));
    await eventually(() => row(waiting), { out: true, retry_count: 0, last_error: null });
    await relay.listening;
    const fresh = await stage.add();
    await eventually(() => row(fresh), { out: true, retry_count: 0, last_error: null });
  });

  it('tries a failed row again only when told, and buries it at the sixth failure with a count of five', async () => {
    await stage.sink.setFault({ outbox: 'tested', mode: 'error', message: 'mailbox full' });
    const relay = stage.play(startRelay(stage.options));
    await relay.listening;
    const id = await stage.add();
    await eventually(() => row(id), { out: false, retry_count: 1, last_error: 'mailbox full' });
    await sleep(200);
    expect(await row(id)).toMatchObject({ retry_count: 1 });
    for (let count = 2; count <= 5; count += 1) {
      await notify(id);
      await eventually(async () => (await row(id))?.retry_count, count);
    }
    await notify(id);
    await eventually(() => row(id), undefined);
    const [dead] = await stage.database.query(
      'SELECT retry_count, last_error, died_at IS NOT NULL AS dated FROM outbox_dead WHERE id = $1',
      [id],
    );
    expect(dead).toEqual({ retry_count: 5, last_error: 'mailbox full', dated: true });
  });

  it('gives a row that came back from the dead with its count exactly one more attempt', async () => {
    await stage.sink.setFault({ outbox: 'tested', mode: 'error' });
    const relay = stage.play(startRelay(stage.options));
    await relay.listening;
    await stage.database.query(
      "INSERT INTO outbox (id, aggregate_type, aggregate_id, event_type, payload, retry_count) VALUES ('00000000-0000-4000-8000-000000000001', 'order', 'o', 'order.created', '{}', 5)",
    );
    await eventually(async () => (await stage.database.query('SELECT id FROM outbox_dead')).length, 1);
  });

  it('leaves a type without a handler pending, silently', async () => {
    const relay = stage.play(startRelay({ ...stage.options, handles: ['order.created'] }));
    await relay.listening;
    const id = await stage.add({ type: 'email.digest' });
    await sleep(200);
    expect(await row(id)).toEqual({ out: false, retry_count: 0, last_error: null });
    expect(stage.log).toEqual([]);
  });

  it('locks nothing: another relay takes the row that one is sending', async () => {
    const sending: string[] = [];
    let fail = () => {};
    const failed = new Promise<void>((resolve) => (fail = resolve));
    const relay = (name: string) => {
      const publish = async () => {
        sending.push(name);
        await failed;
        throw new Error('mailbox full');
      };
      return stage.play(startRelay({ ...stage.options, sink: { publish } }));
    };
    const id = await stage.add();
    try {
      await relay('one').listening;
      await eventually(() => sending, ['one']);
      await relay('two').listening;
      await eventually(() => sending, ['one', 'two']);
    } finally {
      fail();
    }
    await eventually(() => row(id), { out: false, retry_count: 2, last_error: 'mailbox full' });
  });

  it('is not woken by what is not an id, and ends when killed', async () => {
    const relay = stage.play(startRelay(stage.options));
    await relay.listening;
    await notify('order.created');
    relay.kill();
    const id = await stage.add();
    await sleep(150);
    expect(await row(id)).toMatchObject({ out: false });
    await eventually(
      () =>
        stage.database.query("SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'relay tested%' AND datname = current_database()"),
      [],
    );
  });
});
