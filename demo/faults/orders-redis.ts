import { record } from '../schema/table';
import type { FaultScript } from './script';

/** Milliseconds into the demo. */
const POISON_AFTER_MS = 2_000;

/** After a flow without trouble comes one event that Redis never takes: from then on its batch rolls back for ever. */
export const ordersRedisFaults: FaultScript = {
  async during({ client, sink, story, outbox, pause }) {
    if (!(await pause(POISON_AFTER_MS))) return;
    const event = story.next();
    await sink.setFault({
      outbox: outbox.id,
      type: event.type,
      eventId: event.id,
      mode: 'error',
      message: 'ERR value is not an integer or out of range',
    });
    await record(client, outbox.business, outbox.table, event);
  },
};
