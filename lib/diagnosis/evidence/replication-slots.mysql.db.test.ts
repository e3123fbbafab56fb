/** A binary log has no slots: of a relay that reads it nothing is known, and nothing is made up. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSample, openSample, type OpenOutbox } from '@/scripts/testing/outbox';
import { useTestMysql } from '@/scripts/testing/mysql';
import { diagnose } from '../judge/diagnose';
import { metricInput, spanOf } from '@/lib/figures/span';
import { takeReading } from '@/lib/snapshots/readings';
import { summarise } from '@/lib/figures/summarise';
import { shapeCalled, useCompute } from '@/fixtures/outboxes';

const SHAPE = shapeCalled('debezium-outbox');
const database = useTestMysql((given) => createSample(given, SHAPE));
const compute = useCompute();
let open: OpenOutbox;
beforeAll(async () => {
  open = await openSample(database, SHAPE);
});
afterAll(() => open.close());

test('says that there is none, with the reason, and calls nothing healthy that it cannot see', async () => {
  const reading = await takeReading(open.outbox, null, compute);
  const figures = summarise(metricInput(reading, spanOf({ window: '1h' }, reading.asOf)), '1h');
  expect(figures.slot).toMatchObject({ known: 'unavailable', why: 'no_slots', name: null, state: null, lagBytes: null, heldBytes: null });
  expect(figures.throughput).toMatchObject({ publishedPerMinute: null, known: 'unavailable', why: 'external_relay' });
  const diagnosis = diagnose({ reading, figures, failure: null, previous: [], history: null, now: Date.parse(reading.asOf) });
  expect(diagnosis).toEqual({
    verdict: 'healthy',
    since: null,
    evidence: [{ code: 'slot_unknown', values: { why: 'no_slots' } }],
    holds: [{ verdict: 'healthy', since: null }],
  });
});
