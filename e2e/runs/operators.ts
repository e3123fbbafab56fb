/** The two people of a seed: one plans, the other approves and starts; both intervene singly and see to what the run asks of them. */
import { sql } from 'kysely';
import type { Random } from '@/demo/random';
import { unsettledLog } from '@/lib/audit/unsettled-log';
import { findByKey } from '@/lib/interventions/find-intervention';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { interveneWithinLimits } from '@/lib/runs/approvals/alone';
import { answerPlan } from '@/lib/runs/plans/answer';
import { packChunk, unpackChunk } from '@/lib/runs/plans/chunk';
import { createPlan } from '@/lib/runs/plans/create';
import { progressOf } from '@/lib/runs/run/progress';
import { changeRunAs, startRun } from '@/lib/runs/run/start';
import type { InterventionResult } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';
import type { State } from '@/lib/shared/states';
import { Problem } from '@/lib/shared/problems';
import { DEFAULT_PACE } from '@/lib/shared/runs/runs';
import { readChunk, type PlanRow } from '@/lib/store/plans';
import { findRun, type StoredRun } from '@/lib/store/runs';
import type { SentKey, Told } from '../faults/evidence';
import type { Place } from './lane';
import { openPeople, requireStoreOf } from './people';
import { sleep } from './relay';
import type { Decoy, Seed } from './seed';

export type Office = ReturnType<typeof openOffice>;

/** More often than that nobody says that it goes on. */
const RESUMES = 6;
/** Interventions of people before the plan is approved. */
const HEAD_START = 5;
const LOOK_MS = 60;

export function openOffice(place: Place, seed: Seed, timeline: string[]) {
  const { store, directory, planDeps } = openPeople(place.direct);
  const { outbox } = place.direct;
  const { anna, ben } = place;
  const interventions = {
    directory,
    requireStore: requireStoreOf(store),
    unsettled: unsettledLog(store, () => undefined),
    onRecord: () => undefined,
  };
  const keys: (SentKey & { actor: Actor })[] = [];
  /** What the code under test let somebody do. */
  const besides: string[] = [];

  const began = Date.now();
  /** As seen last. */
  let latest: StoredRun | null = null;
  const note = (what: string): void => void timeline.push(`${String(Date.now() - began).padStart(6)} ms ${what}`);

  const told = async (work: Promise<InterventionResult | null>): Promise<Told> => {
    const sent = Date.now();
    const answered = await work.then(
      (answer) => ({ status: answer === null ? 404 : 200, answer }),
      (error: unknown) => ({ status: error instanceof Problem ? 409 : null, answer: null }),
    );
    return { sent, ended: Date.now(), ...answered };
  };

  /** Starts what must not start. */
  async function tryToStart(plan: PlanRow, why: string): Promise<void> {
    for (const actor of [anna, ben])
      await startRun(planDeps, actor, plan.id, DEFAULT_PACE, `${plan.id} ${actor.id}`).then(
        () => besides.push(`a plan was started that is ${why}`),
        (error: unknown) => {
          if (!(error instanceof Problem)) besides.push(`a plan that is ${why} was refused with ${String(error)}`);
        },
      );
  }

  const plan = (key: string, hand: Random, planted: readonly string[]): Promise<PlanRow> => {
    const states = seed.kind.runs[seed.operation] ?? [];
    const source = hand.chance(0.5) ? { ids: [...planted] } : { filter: states.map((state) => `state=${state}`).join('&') };
    return createPlan(planDeps, anna, outbox, { operation: seed.operation, reason: 'the consumer is mended', source }, key);
  };

  const answer = (made: PlanRow, actor: Actor, said: 'approve' | 'refuse', hash: string | null = made.hash) =>
    answerPlan(planDeps, actor, made.id, { answer: said, reason: 'looked at it', hash });

  async function decoy(kind: Decoy, made: PlanRow): Promise<void> {
    const query = (text: string): Promise<unknown> => sql.raw(text).execute(store.db);
    if (kind === 'refused') await answer(made, ben, 'refuse');
    if (kind !== 'refused' && kind !== 'unanswered') await answer(made, ben, 'approve');
    if (kind === 'expired') await query(`update approval set until = clock_timestamp() - interval '1 second' where plan_id = '${made.id}'`);
    if (kind === 'other hash') await query(`update approval set hash = repeat('0', 64) where plan_id = '${made.id}'`);
    if (kind === 'other events') {
      const events = unpackChunk((await readChunk(store.db, made.id, 0)) ?? Buffer.alloc(0)).slice(1);
      const twice = [...events.slice(0, 1).map((one) => ({ ...one, amount: '1' })), ...events];
      await query(`update plan_chunk set data = '\\x${packChunk(twice).toString('hex')}' where plan_id = '${made.id}' and n = 0`);
    }
    await tryToStart(made, kind);
  }

  async function intervene(hand: Random, actor: Actor, favourites: readonly string[]): Promise<void> {
    const operations = seed.kind.contender.operations;
    const operation = hand.chance(0.6) ? seed.operation : hand.pick(Object.keys(operations) as [string, ...string[]]);
    const states = operations[operation] ?? [];
    if (states.length === 0) return;
    const order = hand.chance(0.5) ? 'oldest' : 'newest';
    const page = await listEvents(
      await directory.get(outbox),
      { state: hand.chance(0.7) ? [hand.pick(states as [State, ...State[]])] : states, order },
      { limit: 150 },
    );
    const some = page.events.filter(({ id }) => favourites.includes(id));
    const from = some.length > 0 && hand.chance(0.7) ? some : page.events;
    if (from.length === 0) return;
    const start = hand.int(0, from.length - 1);
    const events = from.slice(start, start + hand.int(1, 3)).map(({ id, version }) => ({ id, version }));
    const sent = { key: hand.uuid(), actor, events, tries: [], asked: [], finals: [] } as SentKey & { actor: Actor };
    keys.push(sent);
    const body = { operation, events, reason: 'one by one' };
    const begun = Date.now();
    const send = () =>
      told(interveneWithinLimits({ ...planDeps, interventions }, { outbox, actor, key: sent.key }, body, () => Date.now() - begun));
    sent.tries.push(await send());
    for (let more = hand.int(0, 2); more > 0 && sent.tries.at(-1)?.answer?.outcome !== 'applied'; more -= 1) {
      await sleep(hand.int(50, 400));
      sent.tries.push(await send());
    }
  }

  return {
    store,
    directory,
    interventions,
    keys,
    besides,
    note,
    latest: () => latest,
    plan,
    answer,
    decoy,
    tryToStart,
    /** `share`: of the relay's time, less where much is to happen to the run. */
    start: (made: PlanRow, share: number): Promise<{ id: string }> => startRun(planDeps, ben, made.id, { ...DEFAULT_PACE, share }, made.id),
    /** One person, until it is over. */
    async work(hand: Random, actor: Actor, favourites: readonly string[], over: () => boolean): Promise<void> {
      while (!over()) {
        await intervene(hand, actor, favourites).catch(() => undefined);
        // The first few before the run gets there.
        if (keys.length > HEAD_START) await sleep(hand.int(50, 400));
      }
    },
    hasBegun: (): boolean => keys.length > HEAD_START,
    /** Says that the run goes on where it asks, and whatever the seed says besides. Ends when the run has ended. */
    async see(id: string, hand: Random, isLate: () => boolean): Promise<void> {
      const began = Date.now();
      let [resumes, shown] = [0, ''];
      const say = (deed: 'pause' | 'resume' | 'cancel') =>
        changeRunAs(planDeps, hand.chance(0.5) ? anna : ben, id, deed).catch(() => undefined);
      for (;;) {
        const run = await findRun(store.db, id);
        latest = run;
        if (run === null || isLate() || (run.endedAt !== null && !run.declared)) return;
        const { state, because } = run;
        const { changed, remaining } = progressOf(run).counts;
        const shows = `${state} ${because ?? ''}: ${String(changed)} changed, ${String(remaining)} remaining`;
        if (shows !== shown) note(shows);
        shown = shows;
        if (seed.cancelAfterMs !== null && Date.now() > began + seed.cancelAfterMs) await say('cancel');
        else if (state === 'paused' && because !== 'unavailable') {
          if (because === 'plan_void' || because === 'not_allowed') besides.push(`the run paused itself as ${because}`);
          resumes += 1;
          await sleep(hand.int(0, 150));
          await say(resumes > RESUMES ? 'cancel' : 'resume');
        } else if (seed.pauses && resumes < RESUMES / 2 && hand.chance(0.04)) await say('pause');
        await sleep(LOOK_MS);
      }
    },
    /** The process that has the lease of the outbox, from the name it gives itself. */
    async owner(): Promise<number | null> {
      const rows = await store.db
        .selectFrom('collector_lease')
        .select('owner')
        .where('outbox', '=', `run/${outbox}`)
        .where(sql<boolean>`expires_at > clock_timestamp()`)
        .execute()
        .catch(() => []);
      return rows[0] === undefined ? null : Number(rows[0].owner.split(' ')[1]);
    },
    /** What became of every key that anybody sent, once all is back. */
    async askInTheEnd(until: number): Promise<void> {
      for (const { key, actor, finals } of keys)
        for (;;) {
          const one = await told(findByKey(interventions, { outbox, actor, key }));
          finals[0] = one;
          if (one.status === 404 || (one.answer !== null && one.answer.outcome !== 'unknown') || Date.now() > until) break;
          await sleep(100);
        }
    },
    close: () => Promise.all([directory.close(), store.close()]),
  };
}
