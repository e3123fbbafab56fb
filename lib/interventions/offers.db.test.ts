/** What an event's page offers follows from the row as it is now: nothing has to be remembered, or forgotten in time. */
import { sampleOf } from '@/fixtures/samples';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import { neededRights } from '@/lib/outbox/rights/rights';
import { getEvent } from '@/lib/outbox/rows/get-event';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, openProven, sampleEventId, type ProvenOutbox } from '@/scripts/testing/outbox';
import { OPERATIONS } from './operations';
import { offersFor, stepLetters } from './offers';
import { previewIntervention } from './preview';

const STUCK_AFTER_SECONDS = 3;
const STUCK = '00000000-0000-4000-8000-000000000099';

describe('what is offered for an event', () => {
  const database = useTestDatabase((db) => createSample(db, escrowStatus));
  let open: ProvenOutbox;
  beforeAll(async () => {
    open = await openProven(database, escrowStatus, { parameters: { stuckAfterSeconds: STUCK_AFTER_SECONDS } });
  });
  afterAll(() => open.close());

  const offers = async (id: string) => {
    const stored = await getEvent(open.outbox, id, stepLetters(open.outbox));
    if (stored === null) throw new Error(`There is no event ${id}`);
    return { version: stored.event.version, of: offersFor(open.outbox, stored) };
  };

  it('is what the dialog of each operation would say', async () => {
    for (const row of sampleOf(escrowStatus).rows) {
      const id = sampleEventId(escrowStatus, row);
      const { version, of } = await offers(id);
      for (const { key } of OPERATIONS) {
        const { rows, warnings } = await previewIntervention(open.outbox, { operation: key, events: [{ id, version }] });
        const because = rows[0]?.allowed === true ? null : (rows[0]?.because ?? rows[0]?.code);
        expect.soft(of[key], `${key} of ${id}`).toEqual({ allowed: rows[0]?.allowed, because, warnings: warnings.map(({ code }) => code) });
      }
    }
  });

  it('each operation is a capability of the table, and what it writes is granted', () => {
    const keys = OPERATIONS.map(({ key }) => key);
    expect(Object.keys(capabilitiesOf(open.outbox).operations).sort()).toEqual(keys);
    const granted = [...neededRights(open.outbox).values()].flatMap(({ by }) => by.map(({ operation }) => operation));
    expect([...new Set(granted)].sort()).toEqual(keys);
  });

  it('is a release once the row is old enough, and not before', async () => {
    await database.query(
      `INSERT INTO p2p.transaction_outbox (id, idempotency_key, transaction_type, transaction_ref_id, status, payload, last_attempt_time)
        VALUES ('${STUCK}', 'stuck', 't', 'r', 'processing', '{}', now())`,
    );
    expect((await offers(STUCK)).of.release).toMatchObject({ allowed: false, because: 'too_young' });
    await vi.waitFor(async () => expect((await offers(STUCK)).of.release).toMatchObject({ allowed: true, because: null }), {
      timeout: 30_000,
      interval: 200,
    });
  });
});
