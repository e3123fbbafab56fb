/** Every built-in shape answers a reading and the collector on every engine it names, with the figures of its own sample. */
import { sampleOf } from '@/fixtures/samples';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSample, openSample, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { askEverything, type Told } from '@/fixtures/collector/ask';
import { STATES_OF, PARTS } from '@/lib/outbox/scan/sources';
import { takeReading } from '@/lib/snapshots/readings';
import type { Reading } from './reading';
import { metricInput, spanOf } from '@/lib/figures/span';
import { summarise } from '@/lib/figures/summarise';
import { useCompute } from '@/fixtures/outboxes';

/** Before all rows of the samples. */
const FOLDED_TO = '2025-12-31T00:00:00Z';
const STATES = ['pending', 'retrying', 'processing', 'dead'] as const;

/** A shape whose name ends in its engine has a sibling with the same rows, unless the two tables keep other things. */
const DIFFERENT = ['brighter-outbox', 'eventferry', 'watermill'];
function tableOf(key: string): string {
  const sibling = key.replace(/-(pg|mysql)$/, '');
  return DIFFERENT.includes(sibling) ? key : sibling;
}

const compute = useCompute();

/** What was read, and what was collected, on the engine that came first. */
const first = new Map<string, Reading>();
const firstTold = new Map<string, Told>();

describe.each(SHAPES.flatMap((shape) => shape.engines.map((engine) => [shape.key, engine, shape] as const)))(
  '%s on %s',
  (key, engine, shape) => {
    const database = useTestDatabaseOf(engine, async (db) => {
      // Times of the samples are written without a zone and are UTC, as those of the test's MariaDB are.
      if (db.engine === 'postgres') await db.query(`ALTER DATABASE ${db.name} SET timezone TO 'UTC'`);
      await createSample(db, shape);
    });
    let open: OpenOutbox;
    beforeAll(async () => {
      open = await openSample(database, shape);
    });
    afterAll(() => open.close());
    const read = (): Promise<Reading> => takeReading(open.outbox, FOLDED_TO, compute);

    test('every state has as many events as the sample, each time it is read', async () => {
      const rows = sampleOf(shape).rows;
      for (let round = 0; round < 3; round += 1) {
        const reading = await read();
        const { depth } = summarise(metricInput(reading, spanOf({ window: '1h' }, reading.asOf)), '1h');
        for (const state of STATES)
          expect
            .soft(depth[state], state)
            .toMatchObject(
              reading.traits.cannotShow[state] === null
                ? { count: rows.filter((row) => row.state === state).length, known: 'exact' }
                : { count: null, known: 'unavailable' },
            );
        for (const part of PARTS)
          expect
            .soft(reading.reach[part], part)
            .toBe(
              rows.some((row) => (STATES_OF[part] as readonly string[]).includes(row.state)) || reading.reach[part] === 'complete'
                ? 'complete'
                : 'absent',
            );
        expect(Math.abs(Date.now() - Date.parse(reading.asOf))).toBeLessThan(10_000);
      }
    });

    test('what the two engines say of the same rows is the same', async () => {
      const reading = await read();
      const other = first.get(tableOf(key));
      if (other === undefined) {
        first.set(tableOf(key), reading);
        return;
      }
      expect(told(reading)).toEqual(told(other));
    });

    test('the collector is told the same of it each time it asks, and on both engines', async () => {
      const memories = new Map();
      const collected = await askEverything(open.outbox, memories);
      for (let round = 0; round < 2; round += 1)
        expect(await askEverything(open.outbox, memories)).toMatchObject({ ...collected, observed: {} });
      const published = sampleOf(shape).rows.filter((row) => row.state === 'published').length;
      if (collected.method === 'scan' || collected.method === 'published_index')
        expect(collected.byMinute.reduce((sum, [, n]) => sum + n, 0)).toBe(published);
      const { method: _, observed: _rows, ...same } = collected;
      const other = firstTold.get(tableOf(key));
      if (other === undefined) firstTold.set(tableOf(key), collected);
      else expect(same).toEqual({ groups: other.groups, byMinute: other.byMinute, oldest: other.oldest, attempts: other.attempts });
    });
  },
);

/** All there is but the moment, and the traces of transactions that only one engine leaves. */
function told({ figures, types, slices, tail, reach, ordered, deadDetailed }: Reading): unknown {
  const { touch: _, touchedAfter: _after, headTouch: _head, headTouchedAfter: _headAfter, ...flow } = figures.relay_stopped ?? {};
  // Claims of the samples are some time ago: for the second engine that may be in the next minute.
  const since = { ...slices, claimed: [...slices.claimed.values()] };
  // Only one of the engines has replication slots.
  const { 'replication-slot': _slots, ...rows } = figures;
  return { ...{ types, slices: since, tail, reach, ordered, deadDetailed }, figures: { ...rows, relay_stopped: flow } };
}
