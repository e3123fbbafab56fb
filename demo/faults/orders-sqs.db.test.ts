import { describe, expect, it } from 'vitest';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { serviceEngineFor } from '../database/engine';
import { ordersSqs } from '../outboxes/orders-sqs';
import { createRandom } from '../random';
import { startRelay } from '../relays/worker-status';
import { eventually, useRelayStage } from '../testing/relay-stage';
import { ordersSqsFaults } from './orders-sqs';

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const outbox = ordersSqs(engine);
  const stage = useRelayStage(outbox.table, 'TRUNCATE TABLE outbox_events');
  const states = () => stage.query<{ status: string }>('SELECT status FROM outbox_events');

  it('a worker that is killed now and then leaves a row, and the recovery job of another frees it', async () => {
    const random = createRandom('faults');
    const client = await serviceEngineFor(stage.database.url).open(stage.database.url);
    let kills = 0;
    await ordersSqsFaults.during?.({
      ...stage.options,
      outbox,
      client,
      sink: stage.sink,
      random,
      story: outbox.story(random),
      now: Date.now(),
      pause: async (ms) => {
        // Minutes pass at once, until there was one kill.
        if (ms < 60_000) await new Promise((resolve) => setTimeout(resolve, ms));
        else kills += 1;
        return kills < 2;
      },
    });
    await client.end();
    expect(await states()).toEqual([{ status: 'PROCESSING' }]);
    stage.play(startRelay({ ...stage.options, recoverEveryMs: 50, recoverAfterMs: 1 }));
    await eventually(states, [{ status: 'PROCESSED' }]);
  });
});
