import { sampleOf } from '@/fixtures/samples';
import { expect, test } from 'vitest';
import { openDatabase } from '@/lib/database/database';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, sampleEventId, settingsFor } from '@/scripts/testing/outbox';
import { bindOutbox } from '../bind';
import { contentOf } from './event-content';
import { getEvent } from './get-event';
import { SHAPES } from '@/lib/shape/catalog.gen';

const shape = SHAPES.find(({ key }) => key === 'opensleigh-outbox');
if (shape === undefined) throw new Error('There is no such shape');

const database = useTestDatabase((made) => createSample(made, shape));

test('a payload in a column of bytes is shown as what the shape says it is', async () => {
  const observed = openDatabase({ id: 'test', url: database.url });
  try {
    const row = sampleOf(shape).rows[0];
    if (row === undefined) throw new Error('The sample has no row');
    const payload = async (encoding: 'bytes' | 'json') => {
      const outbox = await bindOutbox(settingsFor({ ...shape, payload: { encoding } }), observed);
      const stored = await getEvent(outbox, sampleEventId(shape, row));
      return stored === null ? null : (await contentOf(outbox, stored, false)).payload;
    };
    const bytes = await payload('bytes');
    expect(bytes?.binary).toBe(true);
    const text = Buffer.from(bytes?.head ?? '', 'hex').toString('utf8');
    expect(text.length).toBeGreaterThan(0);
    expect(await payload('json')).toEqual({ head: text, bytes: bytes?.bytes, binary: false });
  } finally {
    await observed.close();
  }
});
