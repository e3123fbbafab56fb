import { afterAll, describe, expect, test } from 'vitest';
import { defineShape } from '@/lib/shape/define';
import { ENGINE_KEYS } from '@/lib/shared/model';
import { settingsFor, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { createDirectory } from '../directory';
import { findEvents } from './find';

const ROWS = [
  // id, dedup key, order, published
  ['e1', 'd1', 'order-7', true],
  ['e2', 'd2', 'order-7', false],
  ['e3', 'order-9', 'order-8', false],
  ...Array.from({ length: 8 }, (_, index) => [`m${index}`, `k${index}`, 'order-many', true]),
] as const;

const shape = (engine: (typeof ENGINE_KEYS)[number]) =>
  defineShape({
    key: 'inline',
    label: 'keys',
    origin: 'test',
    engines: [engine],
    table: 'keys_of',
    columns: { id: 'id', type: 'kind', dedupKey: 'dedup', aggregateId: 'order_id', createdAt: 'made', publishedAt: 'sent' },
    states: [
      { state: 'published', when: { column: 'sent', isNull: false } },
      { state: 'pending', when: { always: true } },
    ],
    parameters: {},
  });

describe.each(ENGINE_KEYS)('on %s', (engine) => {
  const database = useTestDatabaseOf(engine, async ({ query }) => {
    for (const table of ['keys_of', 'bare']) {
      await query(`create table ${table} (id varchar(40) primary key, kind varchar(20) not null, dedup varchar(40), order_id varchar(40),
        made timestamp not null default current_timestamp, sent timestamp null)`);
      for (const [id, dedup, order, sent] of ROWS)
        await query(
          `insert into ${table} (id, kind, dedup, order_id, sent) values ('${id}', 'paid', '${dedup}', '${order}', ${sent ? 'current_timestamp' : 'null'})`,
        );
    }
    await query('create index by_dedup on keys_of (dedup)');
    await query('create index by_order on keys_of (order_id)');
  });
  const opened: ReturnType<typeof createDirectory>[] = [];
  const directory = () => {
    const settings = (id: string, table: string, where: string) => ({
      ...settingsFor(shape(engine), { id, inline: true, table }),
      database: where,
    });
    const made = createDirectory({
      databases: [
        { id: 'here', url: database.url },
        // Nobody listens there.
        { id: 'away', url: database.url.replace(/:\d+\//, ':1/') },
      ],
      outboxes: [settings('keyed', 'keys_of', 'here'), settings('bare', 'bare', 'here'), settings('gone', 'keys_of', 'away')],
    });
    opened.push(made);
    return made;
  };
  afterAll(() => Promise.all(opened.map((one) => one.close())));
  const found = async (text: string, hidden: readonly string[] = []) => {
    const { events, more, gaps } = await findEvents(directory(), text, () => new Set(hidden));
    return {
      events: events.map(({ outbox, event }) => `${outbox} ${event.id}`),
      more,
      gaps: gaps.map(({ outbox, role, why }) => [outbox, role ?? 'any', why].join(' ')).sort(),
    };
  };
  const blind = ['bare aggregateId no_index', 'bare dedupKey no_index', 'gone any unread'];

  test('an event is found by its id in every outbox, by dedup key and aggregate id where an index leads to them', async () => {
    expect(await found('e1')).toEqual({ events: ['keyed e1', 'bare e1'], more: [], gaps: blind });
    expect(await found(' d2 ')).toEqual({ events: ['keyed e2'], more: [], gaps: blind });
    // What waits comes before what is out.
    expect(await found('order-7')).toEqual({ events: ['keyed e2', 'keyed e1'], more: [], gaps: blind });
    expect(await found('order-9')).toMatchObject({ events: ['keyed e3'] });
    expect(await found('nothing')).toEqual({ events: [], more: [], gaps: blind });
  });

  test('five of many are shown, and that there are more', async () => {
    const many = await found('order-many');
    expect(many.events).toHaveLength(5);
    expect(many.more).toEqual(['keyed']);
  });

  test('a hidden field is not searched, and that is said', async () => {
    expect(await found('order-7', ['aggregateId'])).toEqual({
      events: [],
      more: [],
      gaps: ['bare aggregateId hidden', 'bare dedupKey no_index', 'gone any unread', 'keyed aggregateId hidden'],
    });
  });
});
