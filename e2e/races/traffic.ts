/** What the services of a race put into their outboxes. */
import type { Connection } from '@/demo/database/service';
import type { Random } from '@/demo/random';
import type { StoryEvent } from '@/demo/schema/table';
import type { SinkControl } from '@/demo/sink/client';
import type { Contender } from './contenders';

export function makeEvent(contender: Contender, random: Random): StoryEvent {
  const id = random.uuid();
  const number = random.int(1, 9);
  return {
    id,
    type: 'order.created',
    aggregateType: 'order',
    aggregateId: `order-${number}`,
    payload: { number },
    traceId: random.hex(32),
    dedupKey: `key-${id}`,
    business: { id: `order-${number}`, status: 'new', amount: '1.00', currency: 'EUR' },
    ...contender.event(random),
  };
}

/** Commits one event whose fate at the sink is settled; answers the id it got. */
export async function addEvent(contender: Contender, random: Random, service: Connection, sink: SinkControl): Promise<string> {
  const event = makeEvent(contender, random);
  const fate = contender.fate(random);
  // The relay may take the row the moment it is committed: hold the commit until the sink knows its fate.
  await service.query('BEGIN');
  const stored = await contender.table.insert(service, event);
  if (fate !== undefined) await sink.setFault({ outbox: 'tested', eventId: stored, message: 'broker said no', ...fate });
  await service.query('COMMIT');
  return stored;
}
