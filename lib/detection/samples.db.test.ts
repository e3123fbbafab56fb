/** The tables that the built-in shapes bring along for their own tests, found by nobody telling. */
import { sampleOf } from '@/fixtures/samples';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '@/lib/database/database';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample } from '@/scripts/testing/outbox';
import { detectAndExamine } from './detect';

const WITH_SAMPLE = SHAPES.filter((shape) => shape.detect !== undefined && sampleOf(shape).ddl.postgres !== undefined);

describe.each(WITH_SAMPLE.map((shape) => [shape.key, shape] as const))('the sample of %s', (key, shape) => {
  const server = useTestDatabase((db) => createSample(db, shape));

  it('is named, bound, and every row has its state', async () => {
    const database = openDatabase({ id: 'shop', url: server.url });
    try {
      const { examinations } = await detectAndExamine(database, {}, { database: 'shop', taken: [], rows: 20 });
      const own = examinations.find(({ candidate }) => candidate.shape === key);
      expect(examinations.map(({ candidate }) => candidate.shape)).toContain(key);
      expect(own?.problem).toBeNull();
      expect(own?.sample?.looked).toBeGreaterThan(0);
      if (shape.states.length > 0) expect(own?.sample?.unmapped).toBe(0);
    } finally {
      await database.close();
    }
  });
});
