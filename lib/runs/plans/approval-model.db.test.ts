/** A model of what a second person says, beside the real store: whatever is done in whatever order, both say the same. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ApprovalRule } from '@/lib/config/config';
import type { Actor } from '@/lib/shared/permissions';
import { findApproval } from '@/lib/store/approvals';
import { findPlan, type PlanRow } from '@/lib/store/plans';
import { usePlans } from '@/scripts/testing/plans';
import { answerPlan } from './answer';
import type { PlanDeps } from './plan';

const { world, storeDatabase, insertDead, depsOf, plan, start } = usePlans();

type State = 'requested' | 'approved' | 'refused' | 'void';
interface Model {
  plans: { state: State; late: boolean; old: boolean; started: boolean; by: string | null; limits: number }[];
  /** Which rules the configuration has now. */
  limits: number;
}
interface Real {
  rows: PlanRow[];
}
const LIMITS: Partial<ApprovalRule>[] = [{ rows: 0 }, { rows: 1 }, { rows: 1, notIdempotent: true }];
const deps = ({ limits }: Model): PlanDeps => depsOf(LIMITS[limits] ?? {});
const worked = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );
const one = <T>(list: readonly T[], n: number): [T, number] | null => {
  const at = list.length === 0 ? -1 : n % list.length;
  return at < 0 ? null : [list[at] as T, at];
};

interface Step {
  name: string;
  run(model: Model, real: Real): Promise<void>;
}
const step = (name: string, run: Step['run']): fc.AsyncCommand<Model, Real> => ({ check: () => true, run, toString: () => name });

const make = fc.constant(
  step('make', async (model, real) => {
    const row = await plan(deps(model));
    real.rows.push(row);
    model.plans.push({ state: 'requested', late: false, old: false, started: false, by: null, limits: model.limits });
  }),
);

type Who = 'maker' | 'approver' | 'other' | 'token';
const answer = fc
  .record({
    n: fc.nat(9),
    who: fc.constantFrom<Who>('approver', 'other', 'approver', 'maker', 'token'),
    says: fc.constantFrom<'approve' | 'refuse'>('approve', 'approve', 'refuse'),
    hash: fc.constantFrom('its', 'its', 'none', 'another'),
  })
  .map(({ n, who, says, hash }) =>
    step(`${who} says ${says} of ${n} (${hash})`, async (model, real) => {
      const [found, at] = one(model.plans, n) ?? [null, 0];
      const row = real.rows[at];
      if (found === null || row === undefined) return;
      const by: Actor = who === 'token' ? { ...world.approver, id: 'token:1', kind: 'token' } : world[who];
      const sent = hash === 'its' ? row.hash : hash === 'none' ? null : 'f'.repeat(64);
      const may = (who === 'approver' || who === 'other') && hash !== 'another';
      const same = found.limits === model.limits;
      const open = found.state === 'requested' && !found.late && !found.old && !found.started;
      expect(await worked(answerPlan(deps(model), by, row.id, { answer: says, reason: 'seen', hash: sent }))).toBe(may && same && open);
      // Whoever may answer, and finds that the rules are others, makes it void; a refusal is of what was asked.
      if (may && !same && !found.started && says === 'approve' && (found.state === 'requested' || found.state === 'approved'))
        found.state = 'void';
      else if (may && same && open) Object.assign(found, { state: says === 'approve' ? 'approved' : 'refused', by: by.id });
    }),
  );

const begin = fc.nat(9).map((n) =>
  step(`start ${n}`, async (model, real) => {
    const [found, at] = one(model.plans, n) ?? [null, 0];
    const row = real.rows[at];
    if (found === null || row === undefined) return;
    const may = found.state === 'approved' && !found.late && !found.old && !found.started && found.limits === model.limits;
    const fresh = (await findPlan(world.store.db, row.id)) ?? row;
    expect(await worked(start(deps(model), fresh))).toBe(may);
    if (may) found.started = true;
  }),
);

const pass = fc.record({ n: fc.nat(9), what: fc.constantFrom<'late' | 'old'>('late', 'late', 'old') }).map(({ n, what }) =>
  step(`${n} is ${what}`, async (model, real) => {
    const [found, at] = one(model.plans, n) ?? [null, 0];
    const row = real.rows[at];
    if (found === null || row === undefined) return;
    found[what] = true;
    const table =
      what === 'late'
        ? "approval set until = now() - interval '1 second' where plan_id"
        : "plan set expires_at = now() - interval '1 second' where id";
    await storeDatabase.query(`update ${table} = '${row.id}'`);
  }),
);

const change = fc.nat(LIMITS.length - 1).map((limits) =>
  step(`rules ${limits}`, async (model) => {
    model.limits = limits;
    await Promise.resolve();
  }),
);

it('is kept by every order of making, answering, waiting, changing the rules and starting', async () => {
  await insertDead(1, 2);
  const commands = fc.commands([make, answer, answer, answer, begin, begin, pass, change], { maxCommands: 25 });
  let started = 0;
  await fc.assert(
    fc.asyncProperty(commands, async (given) => {
      await storeDatabase.query('truncate plan, plan_chunk, approval, spending, run, run_batch, audit_entry cascade');
      const [model, real]: [Model, Real] = [{ plans: [], limits: 0 }, { rows: [] }];
      await fc.asyncModelRun(
        () => ({ model, real }),
        [
          step('make', async (m, r) => {
            r.rows.push(await plan(deps(m)));
            m.plans.push({ state: 'requested', late: false, old: false, started: false, by: null, limits: m.limits });
          }),
          ...given,
        ],
      );
      for (const [at, row] of real.rows.entries()) {
        const [found, approval, now] = [
          model.plans[at],
          await findApproval(world.store.db, row.id),
          await findPlan(world.store.db, row.id),
        ];
        expect([approval?.state, approval?.actorId ?? null, now?.runId !== null]).toEqual([found?.state, found?.by, found?.started]);
        // What runs was agreed to by somebody who did not make it.
        if (found?.started === true) expect(found.by).not.toBe(row.actorId);
      }
      started += model.plans.filter((found) => found.started).length;
      expect(await storeDatabase.query('select from spending')).toEqual([]);
    }),
    { numRuns: 40, seed: 20_261_127 },
  );
  expect(started).toBeGreaterThan(5);
}, 120_000);
