/**
 * The product as the benchmarks call it: the functions its screens and routes call, in one place, so that a benchmark
 * goes on measuring what the product does when the product does it otherwise.
 */
import { takeReading } from '@/lib/metrics/read';
import { encodeCursor, type Cursor } from '@/lib/outbox/cursor';
import { countDeadByError } from '@/lib/outbox/dead-letters';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { getEvent } from '@/lib/outbox/get-event';
import { listEvents } from '@/lib/outbox/list-events';
import { neighboursOf } from '@/lib/outbox/neighbours';
import type { Outbox } from '@/lib/outbox/outbox';
import { SHAPES } from '@/lib/outbox/shape-registry.gen';
import type { EventFilter, EventPage } from '@/lib/shared/model';

export const OUTBOX_ID = 'bench';
export const PAGE_ROWS = 50;

/** A directory of the one outbox in `url`, as the configuration would make it. */
export function openDirectory(url: string, shapeKey: string, table: string): OutboxDirectory {
  const shape = SHAPES.find((one) => one.key === shapeKey);
  if (shape === undefined) throw new Error(`There is no shape ${shapeKey}`);
  return createDirectory({
    databases: [{ id: OUTBOX_ID, url }],
    outboxes: [
      {
        id: OUTBOX_ID,
        name: shape.label,
        database: OUTBOX_ID,
        table,
        shape,
        inline: false,
        parameters: {},
        links: [],
        amount: null,
        mask: [],
      },
    ],
  });
}

/** What an open outbox screen asks of the observed database each time it is refreshed. */
export async function liveReading(outbox: Outbox): Promise<void> {
  await takeReading(outbox, '1h');
}

/** A page of the list, the size a screen shows; `after` is the last row of the page before it. */
export async function listPage(
  outbox: Outbox,
  filter: EventFilter,
  after?: { createdKey: string; id: string },
  limit = PAGE_ROWS,
): Promise<EventPage> {
  const order: Cursor['order'] = filter.order ?? 'newest';
  return listEvents(outbox, filter, {
    limit,
    ...(after === undefined ? {} : { cursor: encodeCursor({ order, direction: 'next', ...after }) }),
  });
}

/** Dead letters by cause, as their screen shows them. */
export async function deadByCause(outbox: Outbox): Promise<void> {
  await countDeadByError(outbox);
}

/** An event's own page: the row, and the others of its aggregate. */
export async function eventPage(outbox: Outbox, id: string): Promise<void> {
  const found = await getEvent(outbox, id);
  if (found === null) throw new Error(`There is no event ${id}`);
  await neighboursOf(outbox, found.event);
}
