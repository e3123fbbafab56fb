/** A model of a run: whatever outcomes and fates come, in whatever steps and processes, every event is sent in its turn, once, and the sums add up. */
import fc from 'fast-check';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SKIP_CODES, type SkipCode } from '@/lib/shared/model';
import { answerBatch, declareBatch, insertRun, writeFates } from '@/lib/store/runs';
import { insertPlan } from '@/lib/store/plans';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { useTestDatabase } from '@/scripts/testing/database';
import { loadJob, type Job, LOCKED_TRIES, type EventFate } from './job';
import { packChunk } from '../plans/chunk';

const database = useTestDatabase();
let store: Store;
beforeAll(async () => {
  expect((await migrateStore(database.url)).ok).toBe(true);
  store = openStore(database.url);
});
afterAll(() => store.close());

const LEASE = { outbox: 'run/o', owner: 'model', epoch: '1', acted: null };
/** Mostly what goes well, so that much is sent; what is locked comes back. */
const outcome = fc.oneof(
  { arbitrary: fc.constant('changed' as const), weight: 8 },
  { arbitrary: fc.constant('locked' as const), weight: 3 },
  { arbitrary: fc.constantFrom(...SKIP_CODES), weight: 2 },
);
const fate = fc.oneof(
  { arbitrary: fc.constant<EventFate>('published'), weight: 6 },
  { arbitrary: fc.constantFrom<EventFate>('gone', 'failedAgain', 'retrying', 'waiting', 'notKnown'), weight: 3 },
);
const step = fc.record({
  limit: fc.integer({ min: 1, max: 9 }),
  outcomes: fc.array(outcome, { minLength: 9, maxLength: 9 }),
  fates: fc.array(fate, { minLength: 9, maxLength: 9 }),
  /** Another process goes on: before the batch is answered, or after. */
  takenOver: fc.constantFrom('no', 'declared', 'answered'),
});

interface Known {
  outcome: 'changed' | 'blocked_by_order' | SkipCode | null;
  fate: EventFate;
  tries: number;
}

async function planned(aggregates: readonly (number | null)[]): Promise<{ id: string; planId: string; operation: string; count: number }> {
  const [id, planId, count] = [uuidv7(), uuidv7(), aggregates.length];
  const events = aggregates.map((aggregate, at) => ({
    ...{ id: String(at), version: 'v', amount: null, currency: null },
    aggregate: aggregate === null ? null : `0000000${String(aggregate)}`,
  }));
  const made = { actorId: 'account:m', actorName: 'm', actor: '{}', source: '{}', facts: '{}', requestHash: '', hash: '' };
  const plan = { ...made, id: planId, outbox: 'o', operation: 'requeue', reason: 'model', count, key: planId };
  const run = { id, planId, outbox: 'o', progress: '{}', key: id, requestHash: '', pace: { share: 0.5, ratePerSecond: null } };
  await store.db.transaction().execute(async (db) => {
    await insertPlan(db, plan, [packChunk(events)], 24);
    await insertRun(db, run);
  });
  return { id, planId, operation: 'requeue', count };
}

it('sends every event once, in its turn, and always adds up, whoever goes on with it', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(fc.nat({ max: 5 }), { freq: 4 }), { minLength: 1, maxLength: 30 }),
      fc.boolean(),
      fc.array(step, { maxLength: 25 }),
      async (aggregates, goneIsOut, steps) => {
        const run = await planned(aggregates);
        const { db } = store;
        const known = aggregates.map((): Known => ({ outcome: null, fate: 'notLooked', tries: 0 }));
        const load = (): Promise<Job> => loadJob(db, run, goneIsOut);
        let job = await load();

        const before = (position: number): Known | undefined =>
          aggregates[position] === null ? undefined : known.slice(0, position).findLast((_, at) => aggregates[at] === aggregates[position]);
        const isOpen = ({ outcome: code, tries }: Known): boolean => code === null || (code === 'locked' && tries < LOCKED_TRIES);
        const isOut = ({ outcome: code, fate: became }: Known): boolean =>
          code === 'already_published' ||
          (code === 'not_found' && goneIsOut) ||
          (code === 'changed' && (became === 'published' || (became === 'gone' && goneIsOut)));
        const mayStill = (one: Known): boolean =>
          isOpen(one) || isOut(one) || (one.outcome === 'changed' && (one.fate === 'notLooked' || one.fate === 'waiting'));

        const check = (): void => {
          const { counts, left } = job.counts(false);
          const { requested, changed, conflicted, locked, failed, unknown, remaining, fates } = counts;
          expect(changed + conflicted + locked + failed + unknown + remaining).toBe(requested);
          expect(requested).toBe(aggregates.length);
          expect(Object.values(fates).reduce((sum, one) => sum + one, 0)).toBe(changed);
          expect(changed).toBe(known.filter((one) => one.outcome === 'changed').length);
          expect(remaining).toBe(known.filter(isOpen).length);
          expect(left.remaining ?? 0).toBe(remaining);
          expect(job.hasOpen()).toBe(remaining > 0);
        };

        const takeStep = async ({ limit, outcomes, fates, takenOver }: (typeof steps)[number]): Promise<boolean> => {
          const { send, blocked, again } = job.choose(limit);
          expect(send.length).toBeLessThanOrEqual(limit);
          expect(new Set([...send, ...blocked]).size).toBe(send.length + blocked.length);
          for (const position of send) {
            const [own, earlier] = [known[position], before(position)];
            expect(own !== undefined && isOpen(own) && (own.outcome === 'locked') === again).toBe(true);
            expect(earlier === undefined || isOut(earlier)).toBe(true);
          }
          let n = job.nextNumber();
          if (blocked.length > 0) {
            // What follows a blocked one is blocked with it.
            for (const position of blocked) Object.assign(known[position] ?? {}, { outcome: 'blocked_by_order' });
            for (const position of blocked)
              expect(mayStill(before(position) ?? { outcome: null, fate: 'notLooked', tries: 0 })).toBe(false);
            const codes = job.block(n, blocked);
            await db.transaction().execute(async (tx) => {
              await declareBatch(tx, LEASE, run.id, { n, positions: blocked });
              await answerBatch(tx, run.id, { n, interventionId: null, outcomes: codes, tookMs: null });
            });
            n += 1;
          }
          if (send.length > 0) {
            await db.transaction().execute((tx) => declareBatch(tx, LEASE, run.id, { n, positions: send }));
            job.declare(n, send);
            if (takenOver === 'declared') job = await load();
            expect(job.declared()?.positions).toEqual(send);
            expect(job.choose(limit).send.filter((position) => send.includes(position))).toEqual([]);
            expect(job.counts(true).counts.unknown).toBe(send.length);
            const codeOf = (at: number) => outcomes[at] ?? 'changed';
            const answer = {
              interventionId: uuidv7(),
              changed: send.flatMap((position, at) => (codeOf(at) === 'changed' ? [String(position)] : [])),
              skipped: send.flatMap((position, at) => {
                const code = codeOf(at);
                return code === 'changed' ? [] : [{ id: String(position), code }];
              }),
            };
            const codes = await job.answer(answer);
            send.forEach((position, at) => {
              const own = known[position];
              if (own === undefined) return;
              own.outcome = codeOf(at);
              if (own.outcome === 'locked') own.tries += 1;
            });
            await db
              .transaction()
              .execute((tx) => answerBatch(tx, run.id, { n, interventionId: answer.interventionId, outcomes: codes, tookMs: 1 }));
          }
          const unsure = job.unsure(0);
          let looked = 0;
          for (const { positions } of unsure)
            for (const position of positions) {
              const found = fates[looked % fates.length] ?? 'published';
              looked += 1;
              job.setFate(position, found);
              Object.assign(known[position] ?? {}, { fate: found });
            }
          await db.transaction().execute((tx) =>
            writeFates(
              tx,
              run.id,
              unsure.map(({ batch }) => ({ n: batch.n, fates: job.fatesOf(batch.n) })),
            ),
          );
          check();
          if (takenOver === 'answered') {
            const sums = job.counts(false);
            job = await load();
            expect(job.counts(false)).toEqual(sums);
            check();
          }
          return send.length + blocked.length + looked > 0;
        };

        for (const one of steps) await takeStep(one);
        // With every relay that takes what it gets it comes to an end.
        const well = { limit: 9, outcomes: [], fates: ['published' as const], takenOver: 'no' as const };
        for (let more = 0; (await takeStep(well)) && more < 200; more += 1);
        expect(job.hasOpen()).toBe(false);
      },
    ),
    { numRuns: 60 },
  );
});
