/** The contract battery: every built-in shape on every engine it names passes all of it. */
import { capabilitiesOf } from './capabilities';
import { sampleOf } from '@/fixtures/samples';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSample, openSample, sampleEventId, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import { tableRef } from '@/lib/database/description';
import { LIVE_STATES, STATES } from '@/lib/shared/states';
import { recordTables } from './companions';
import { newestDead } from './lists/dead-letters';
import { getEvent } from './rows/get-event';
import { listEvents } from './lists/list-events';
import { SHAPES } from '@/lib/shape/catalog.gen';

describe.each(SHAPES.flatMap((shape) => shape.engines.map((engine) => [shape.key, engine, shape] as const)))(
  'shape %s on %s',
  (_key, engine, shape) => {
    const database = useTestDatabaseOf(engine, (db) => createSample(db, shape));
    let open: OpenOutbox;
    beforeAll(async () => {
      open = await openSample(database, shape);
    });
    afterAll(() => open.close());
    const rows = sampleOf(shape).rows;
    const idOf = (row: (typeof rows)[number]): string => sampleEventId(shape, row);

    it('brings six rows and one for every state it can show', () => {
      expect(rows.length).toBeGreaterThanOrEqual(6);
      const shown = LIVE_STATES.filter((state) => capabilitiesOf(open.outbox).states[state].available);
      expect(new Set(rows.map((row) => row.state))).toEqual(new Set(shape.states.length === 0 ? ['unmapped'] : shown));
    });

    it('gives every sample row its state, by id and in the list', async () => {
      const page = await listEvents(open.outbox, {}, { limit: 50 });
      const listed = new Map(page.events.map((event) => [event.id, event.state]));
      for (const row of rows) {
        const stored = await getEvent(open.outbox, idOf(row));
        expect.soft(stored?.event.state, `row ${idOf(row)}`).toBe(row.state);
        expect.soft(listed.get(idOf(row)), `row ${idOf(row)} in the list`).toBe(row.state);
      }
    });

    it('finds exactly the rows of each state, and every row in exactly one', async () => {
      const seen: string[] = [];
      for (const state of LIVE_STATES) {
        const page = await listEvents(open.outbox, { state: [state] }, { limit: 50 });
        expect(page.events.map((event) => event.id).sort()).toEqual(
          rows
            .filter((row) => row.state === state)
            .map(idOf)
            .sort(),
        );
        expect(page.events.every((event) => event.state === state)).toBe(true);
        seen.push(...page.events.map((event) => event.id));
      }
      const mapped = rows.filter((row) => row.state !== 'unmapped');
      expect(seen.sort()).toEqual(mapped.map(idOf).sort());
    });

    it('says of every state whether it can be shown, and why not', () => {
      for (const state of STATES) {
        const capability = capabilitiesOf(open.outbox).states[state];
        if (!capability.available) expect(['not_in_schema', 'deleted_on_publish', 'external_relay']).toContain(capability.because);
      }
    });

    it('pages in its order, both ways, without losing or repeating a row', async () => {
      for (const order of ['newest', 'oldest'] as const) {
        const all = (await listEvents(open.outbox, { order }, { limit: 50 })).events.map((event) => event.id);
        const walked: string[] = [];
        let cursor: string | undefined;
        let lastPage;
        do {
          const page = await listEvents(open.outbox, { order }, { limit: 2, ...(cursor === undefined ? {} : { cursor }) });
          walked.push(...page.events.map((event) => event.id));
          lastPage = page;
          cursor = page.nextCursor ?? undefined;
        } while (cursor !== undefined);
        expect(walked).toEqual(all);
        const back: string[] = lastPage.events.map((event) => event.id);
        let previous = lastPage.previousCursor;
        while (previous !== null) {
          const page = await listEvents(open.outbox, { order }, { limit: 2, cursor: previous });
          back.unshift(...page.events.map((event) => event.id));
          previous = page.previousCursor;
        }
        expect(back).toEqual(all);
      }
    });

    it('counts dead letters by error only where it has any', async () => {
      expect(await newestDead(open.outbox, false)).toHaveLength(rows.filter((row) => row.state === 'dead').length);
    });

    it('keeps digits, and answers null for an id that cannot be one of its own', async () => {
      for (const id of ['', ' 1', '01', "1' or '1'='1", 'not-an-id', '0'.repeat(400), '\u0000', '99999999999999999999']) {
        expect(await getEvent(open.outbox, id)).toBeNull();
      }
    });

    it('is writable once installed and proven, with no more rights than its operations need', async () => {
      expect(open.outbox.whyReadOnly).toBe(shape.proven === 'by_tests' ? null : 'mapping_not_proven');
      const operator = open.outbox.database.write;
      const payload = open.outbox.main.roles.payload?.column.name ?? open.outbox.main.id[0]?.name;
      const { sql } = await import('kysely');
      const table = tableRef(open.outbox.main.table);
      const records = tableRef(recordTables(open.outbox.database.engine).headers);
      await expect(
        operator?.((db) => sql`update ${table} set ${sql.ref(payload ?? '')} = ${sql.ref(payload ?? '')}`.execute(db)),
      ).rejects.toMatchObject({ code: 'no_privilege' });
      await expect(operator?.((db) => sql`truncate ${table}`.execute(db))).rejects.toMatchObject({ code: 'no_privilege' });
      await expect(
        open.outbox.database.read((db) => sql`set transaction read write`.execute(db).then(() => sql`delete from ${table}`.execute(db))),
      ).rejects.toThrow();
      await expect(operator?.((db) => sql`delete from ${records}`.execute(db))).rejects.toMatchObject({
        code: 'no_privilege',
      });
    });
  },
);
