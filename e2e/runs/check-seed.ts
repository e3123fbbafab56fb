/** Carries a seed out from its first event to the verdict. */
import { serviceEngineFor, withConnection } from '@/demo/database/engine';
import type { OpenConnection } from '@/demo/database/service';
import { DEFAULT_PACE, type RunCounts } from '@/lib/shared/runs/runs';
import { findRun } from '@/lib/store/runs';
import { makeEvent } from '../races/traffic';
import { gather } from './evidence';
import { judgeRun } from './judge';
import { plant } from './kinds';
import type { Lane, Place } from './lane';
import { openOffice, type Office } from './operators';
import { end, holder, relay, sleep, type Failure, type RelayOptions } from './relay';
import { startReplicas, type Replicas } from './replicas';
import type { Seed } from './seed';

export interface Verdict {
  wrong: string[];
  counts: RunCounts | null;
  /** Of each fault, whether the run was still going on when it struck. */
  struck: number;
  ms: number;
  output: string;
}

/** All is back: so long may it take until the run is over. */
const ENDS_WITHIN_MS = 60_000;
/** First events of a run, of which a quiet seed lets none fail: it would pause. */
const FIRST_EVENTS = 45;

/** Longer takes no seed, on a machine however busy. */
const HANGS_MS = 240_000;

/** `calm`: nothing breaks. */
export async function checkSeed(lane: Lane, bundle: string, seed: Seed, calm = false): Promise<Verdict> {
  const timeline: string[] = [];
  const hangs = async (): Promise<Verdict> => {
    await sleep(HANGS_MS);
    return { wrong: ['it hangs'], counts: null, struck: 0, ms: HANGS_MS, output: timeline.join('\n') };
  };
  return Promise.race([carryOut(lane, bundle, seed, calm, timeline), hangs()]);
}

async function carryOut(lane: Lane, bundle: string, seed: Seed, calm: boolean, timeline: string[]): Promise<Verdict> {
  const began = Date.now();
  const place = await lane.open(seed.kind, `${seed.name.replaceAll(/\W/g, '_')}${calm ? '_calm' : ''}`.toLowerCase());
  const office = openOffice(place, seed, timeline);
  const replicas = startReplicas(bundle, place.lined, seed.quiet || seed.number % 3 === 0 ? 2 : 1);
  let over = false;
  const inserted: string[] = [];
  let living: Promise<unknown> = Promise.resolve();
  try {
    office.note('open');
    const planted = await withConnection(place.database.url, (db) => plant(seed.kind, db, seed.hand.fork('events'), seed.count, seed));
    inserted.push(...planted);
    const failures = drawFailures(seed, planted);
    office.note('planted');
    const plan = await office.plan('plan', seed.hand.fork('plan'), planted);
    if (seed.decoy !== null) await office.decoy(seed.decoy, await office.plan('decoy', seed.hand.fork('decoy'), planted));
    await office.tryToStart(plan, 'not approved');

    office.note('planned');
    const options: Omit<RelayOptions, 'hand'> = {
      ...{ kind: seed.kind, url: place.database.url, failures, quiet: seed.quiet, over: () => over },
      ignored: new Set(seed.kind.late === null && seed.operation === 'archive' ? planted : []),
    };
    const late = { value: false };
    const fork = (name: string) => seed.hand.fork(name);
    const favourites = failures.size > 0 ? [...failures.keys()] : planted.slice(0, 20);
    living = Promise.all([
      relay({ ...options, hand: fork('relay') }),
      ...(seed.quiet
        ? []
        : [
            holder({ ...options, hand: fork('holder') }, planted),
            service(place, fork('service'), inserted, () => over),
            office.work(fork('anna'), place.anna, favourites, () => over),
            office.work(fork('ben'), place.ben, favourites, () => over),
          ]),
    ]);
    for (const until = Date.now() + 2_000; !seed.quiet && !office.hasBegun() && Date.now() < until;) await sleep(20);
    await office.answer(plan, place.ben, 'approve');
    const { id } = await office.start(plan, calm ? 1 : seed.quiet ? 0.2 : DEFAULT_PACE.share);
    const seeing = office.see(id, fork('seeing'), () => late.value);
    office.note('started');
    const struck = calm ? 0 : await strike({ seed, place, replicas, office });
    mend(place);
    await Promise.race([seeing, sleep(ENDS_WITHIN_MS).then(() => (late.value = true))]);
    if (seed.quiet) await fatesKnown(office, id);
    over = true;
    await living;
    office.note('all has stopped');
    await office.askInTheEnd(Date.now() + 30_000);
    const surprises = await replicas.end();
    office.note('over');
    const evidence = await gather(place, office, inserted);
    const wrong = [...office.besides, ...surprises, ...judgeRun(evidence)];
    return {
      wrong,
      counts: evidence.runs[0]?.counts ?? null,
      struck,
      ms: Date.now() - began,
      output: [...timeline, replicas.output()].join('\n'),
    };
  } finally {
    over = true;
    mend(place);
    await Promise.allSettled([living, replicas.killAll()]);
    await office.close();
    await place.close();
  }
}

function mend({ lines }: Place): void {
  for (const line of Object.values(lines)) line.mend();
}

/** In quiet seeds a few die for another cause, too few and too late to stop the run; in others all kinds of failures happen. */
function drawFailures({ kind, quiet, hand }: Seed, planted: readonly string[]): Map<string, Failure> {
  const draw = hand.fork('failures');
  if (kind.fails === null) return new Map();
  const few = quiet
    ? planted
        .slice(FIRST_EVENTS)
        .filter(() => draw.chance(0.04))
        .slice(0, 3)
    : planted.filter(() => draw.chance(0.15));
  return new Map(
    few.map((id) => [
      id,
      quiet ? { times: 1, dies: true, other: true } : { times: draw.int(1, 2), dies: draw.chance(0.4), other: draw.chance(0.8) },
    ]),
  );
}

interface Striking {
  seed: Seed;
  place: Place;
  replicas: Replicas;
  office: Office;
}

/** One fault after the other; in quiet seeds each after the run has gone on from the one before. Answers how many struck while it went on. */
async function strike({ seed, place, replicas, office }: Striking): Promise<number> {
  const hand = seed.hand.fork('faults');
  const over = (): boolean => office.latest()?.endedAt != null;
  const progress = () => office.latest()?.progress;
  let struck = 0;
  let before = progress();
  for (const fault of seed.faults) {
    while (seed.quiet && !over() && progress() === before) await sleep(10);
    await sleep(hand.int(0, seed.quiet ? 60 : 250));
    if (over()) break;
    struck += 1;
    office.note(`> ${fault.key}`);
    await fault.strike({ place, replicas, hand: hand.fork(fault.key), owner: () => office.owner(), over });
    office.note(`< ${fault.key}`);
    before = progress();
  }
  return struck;
}

/** Fates of an ended run are looked at a little longer. */
async function fatesKnown(office: Office, id: string): Promise<void> {
  for (const until = Date.now() + 20_000; Date.now() < until; await sleep(50)) {
    const run = await findRun(office.store.db, id);
    if (run === null || run.followedUntil === null) return;
  }
}

/** Events that are none of the run's business. */
async function service(place: Place, hand: Seed['hand'], inserted: string[], over: () => boolean): Promise<void> {
  let db: OpenConnection | null = null;
  while (!over()) {
    try {
      db ??= await serviceEngineFor(place.database.url).open(place.database.url);
      inserted.push(await place.kind.contender.table.insert(db, makeEvent(place.kind.contender, hand)));
    } catch {
      db = null;
    }
    await sleep(150);
  }
  await end(db);
}
