/** Runs the observers of an outbox when they are due; what they saw is added to the history by the next tick. */
import type { Observer } from './observers/observer';
import { attemptsObserver } from './observers/attempts';
import { statisticsObserver } from './observers/statistics';
import { deletesObserver, transitionsObserver } from './observers/departures';
import { sql } from 'kysely';
import type { Outbox } from '@/lib/outbox/outbox';
import { getOrMake } from '@/lib/shared/group-by';
import { isTimeout, DUTY_CYCLE, Backoff } from './clock';
import { sumOfCosts } from './progress';
import type { Session } from './session';

/** All observers; each says which outboxes it wants. */
export const OBSERVERS: readonly Observer[] = [attemptsObserver, transitionsObserver, deletesObserver, statisticsObserver];
const STATEMENT_MS = 2_000;
/** The share of the time for ticks. Most of it is the round trip, as they are short: on the server it is a hundredth or less. */
const OBSERVING = 0.05;

/** Runs each in a transaction of its own, so that one that fails does not affect the others. Returns what the last one threw. */
export async function observe(session: Session, outbox: Outbox, observers: readonly Observer[]): Promise<Error | null> {
  const { choice, rounds, timing } = session;
  let failed: Error | null = null;
  for (const observer of choice === null ? [] : observers.filter((one) => one.wants(outbox, choice.method))) {
    const share = (OBSERVING * timing.duty) / DUTY_CYCLE;
    const round = getOrMake(rounds, observer.key, () => ({ dueAt: 0, pace: new Backoff(observer.everyMs, observer.everyMs, share) }));
    if (round.dueAt > Date.now()) continue;
    const began = performance.now();
    try {
      await observeOnce(session, outbox, observer);
      round.pace.succeeded(performance.now() - began);
    } catch (error) {
      round.pace.failed(isTimeout(error));
      failed = error instanceof Error ? error : new Error(String(error));
    }
    // Random, so as not to be in step with a relay that works in rounds: what waits at one point of its round is not the average.
    round.dueAt = Date.now() + round.pace.everyMs * (0.75 + Math.random() / 2);
  }
  return failed;
}

async function observeOnce(session: Session, outbox: Outbox, observer: Observer): Promise<void> {
  const { tried, memory } = session;
  const past = memory[observer.key]?.memory ?? null;
  const { engine } = outbox.database;
  const began = performance.now();
  const { at, seen } = await outbox.database.read(
    async (db) => {
      await engine.byIndex(db, { memory: true });
      const { rows } = await sql<{ at: string }>`select ${engine.fragments.nowIso()} as at`.execute(db);
      const time = rows[0]?.at ?? '';
      return { at: time, seen: await observer.tick({ outbox, db, at: time, memory: past, tried, acted: session.lease.acted }) };
    },
    { statementMs: STATEMENT_MS },
  );
  if (observer.takesTried && tried !== null) session.tried = { from: tried.to, to: tried.to, rows: [] };
  session.names.add(session.pending, seen.additions);
  memory[observer.key] = { at, memory: seen.memory };
  // The time of the tick is kept too, but is not worth a write.
  if (seen.memory !== past) session.memoryChanged = true;
  session.observed = sumOfCosts(session.observed, { statements: 4, rows: seen.rows, milliseconds: performance.now() - began });
}
