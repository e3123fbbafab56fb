/** Runs the observers of an outbox when they are due; what they saw waits for the next entry into the history. */
import type { Observer } from './observers/observer';
import { attemptsObserver } from './observers/attempts';
import { statisticsObserver } from './observers/statistics';
import { deletesObserver, transitionsObserver } from './observers/departures';
import { sql } from 'kysely';
import type { Outbox } from '@/lib/outbox/outbox';
import { addPending } from './collect';
import { isTimeout, DUTY_CYCLE as TICK_DUTY, Backoff } from './clock';
import type { Session } from './session';

/** Everything that is learnt by observing, whatever the outbox: each observer says which it wants. */
export const OBSERVERS: readonly Observer[] = [attemptsObserver, transitionsObserver, deletesObserver, statisticsObserver];

const STATEMENT_MS = 2_000;
/** Of a tick that is this short most is the way there and back: by the time of the server it is a hundredth or less. */
const DUTY_CYCLE = 0.05;
/** What it may take of the share of the ticks that collect. */
const OF_LOOKS = DUTY_CYCLE / TICK_DUTY;

/** When each observer is due again, in milliseconds since the epoch, and how dear it is. */
export type Rounds = Map<string, { dueAt: number; pace: Backoff }>;

/** The observers that want this outbox. */
export function neededObservers(observers: readonly Observer[], outbox: Outbox, { choice }: Session): Observer[] {
  return choice === null ? [] : observers.filter((observer) => observer.wants(outbox, choice.method));
}

/** Each in a transaction of its own: one that fails takes nothing of the others with it. Answers what the last one threw. */
export async function observe(session: Session, outbox: Outbox, observers: readonly Observer[], rounds: Rounds): Promise<Error | null> {
  let failed: Error | null = null;
  for (const observer of neededObservers(observers, outbox, session)) {
    const round = rounds.get(observer.key) ?? {
      dueAt: 0,
      pace: new Backoff(observer.everyMs, observer.everyMs, Math.min(DUTY_CYCLE, session.duty * OF_LOOKS)),
    };
    rounds.set(observer.key, round);
    if (round.dueAt > Date.now()) continue;
    const began = performance.now();
    try {
      await observeOnce(session, outbox, observer);
      round.pace.succeeded(performance.now() - began);
    } catch (error) {
      round.pace.failed(isTimeout(error));
      failed = error instanceof Error ? error : new Error(String(error));
    }
    // Never in step with a relay that works in rounds: what waits then would pass for what waits on average.
    round.dueAt = Date.now() + round.pace.everyMs * (0.75 + Math.random() / 2);
  }
  return failed;
}

async function observeOnce(session: Session, outbox: Outbox, observer: Observer): Promise<void> {
  const past = session.memory[observer.key];
  const { tried } = session;
  const { engine } = outbox.database;
  const began = performance.now();
  const { at, seen } = await outbox.database.read(
    async (db) => {
      await engine.byIndex(db, { memory: true });
      const { rows } = await sql<{ at: string }>`select ${engine.fragments.nowIso()} as at`.execute(db);
      const time = rows[0]?.at ?? '';
      return {
        at: time,
        seen: await observer.tick({ outbox, db, at: time, memory: past?.memory ?? null, tried }),
      };
    },
    { statementMs: STATEMENT_MS },
  );
  if (observer.takesTried && tried !== null) session.tried = { from: tried.to, to: tried.to, rows: [] };
  addPending(session, session.names.rename(seen.additions));
  session.memory = { ...session.memory, [observer.key]: { at, memory: seen.memory } };
  // When it ticked last is part of what is kept, but not worth writing the rest for.
  if (seen.memory !== past?.memory) session.memoryChanged = true;
  session.observed = {
    statements: session.observed.statements + 4,
    rows: session.observed.rows + seen.rows,
    milliseconds: session.observed.milliseconds + performance.now() - began,
  };
}
