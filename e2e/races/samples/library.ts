/** The other side of a race on a shape's samples: a library that takes rows along, and a service that writes new ones. */
import type { Connection } from '@/demo/database/service';
import type { Random } from '@/demo/random';
import type { SeenRow, Stage } from './stage';

/** Rows that are not published: so many there are to be, for every state to have some. */
const ALIVE = 48;
const COPIES_AT_FIRST = 5;
const HELD_MS = 12;

/** What somebody does on a connection of his own until the race is over. */
export type Party = (connection: Connection, random: Random) => Promise<void>;

/** Copies of every sample, and then as many as are taken away; one that a deadlock takes back is missing until the next round. */
export function service(stage: Stage, over: () => boolean): Party {
  const samples = stage.samples.filter(({ place }) => place === 'main');
  return async (connection, random) => {
    const write = (sample: (typeof samples)[number]) =>
      inTransaction(connection, async () => {
        await stage.insert(connection, sample, random);
        return true;
      });
    for (const sample of samples) for (let copy = 0; copy < COPIES_AT_FIRST; copy += 1) await write(sample);
    while (!over()) {
      const alive = (await stage.rows(connection)).filter(({ image }) => stage.stateOf(image) !== 'published').length;
      for (let missing = ALIVE - alive; missing > 0; missing -= 1) await write(pick(random, samples));
      await sleep(20);
    }
  };
}

/**
 * A relay made of the samples: takes a row it has seen to what another sample looks like, publishes or buries it, by a statement
 * that says what it saw, or holding the row for a while; and at times takes everything back.
 */
export function relay(stage: Stage, over: () => boolean): Party {
  return async (connection, random) => {
    while (!over()) {
      const open = (await stage.rows(connection)).filter(({ image }) => stage.stateOf(image) !== 'published');
      for (let step = 0; step < 6 && open.length > 0 && !over(); step += 1) await take(stage, connection, random, pick(random, open));
      await sleep(random.int(0, 4));
    }
  };
}

async function take(stage: Stage, connection: Connection, random: Random, row: SeenRow): Promise<void> {
  if (random.chance(0.5)) {
    await inTransaction(connection, async () => {
      if (!(await stage.hold(connection, row))) return false;
      await sleep(random.int(0, HELD_MS));
      return (await advance(stage, connection, random, row)) && random.chance(0.75);
    });
  } else await inTransaction(connection, () => advance(stage, connection, random, row));
}

/** One step of the row's life; false when it was not what was seen. */
function advance(stage: Stage, connection: Connection, random: Random, row: SeenRow): Promise<boolean> {
  const letters = stage.samples.filter(({ place }) => place === 'dead');
  if (letters.length > 0 && random.chance(0.3)) return stage.bury(connection, row, pick(random, letters));
  // Somebody corrects what an event says: its state does not tell, only its version does.
  if (random.chance(0.2)) return stage.amend(connection, row);
  if (stage.publishedIsGone && random.chance(0.15)) return stage.remove(connection, row);
  const samples = stage.samples.filter(({ place, state }) => place === 'main' && (state !== 'published' || random.chance(0.15)));
  return samples.length === 0 ? Promise.resolve(false) : stage.become(connection, row, pick(random, samples));
}

/** Committed when `work` says so. A deadlock or a lock that took too long takes everything back, as libraries do. */
async function inTransaction(connection: Connection, work: () => Promise<boolean>): Promise<void> {
  await connection.query('BEGIN');
  try {
    await connection.query((await work()) ? 'COMMIT' : 'ROLLBACK');
  } catch (error) {
    await connection.query('ROLLBACK');
    if (!/deadlock|lock wait timeout/i.test(String(error))) throw error;
  }
}

function pick<T>(random: Random, all: T[]): T {
  const one = all[random.int(0, all.length - 1)];
  if (one === undefined) throw new Error('nothing to choose from');
  return one;
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
