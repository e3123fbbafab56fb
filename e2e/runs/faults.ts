/** What breaks under a run, and how it is mended. */
import type { Random } from '@/demo/random';
import { ENGINE_KEYS, type EngineKey } from '@/lib/shared/model';
import type { Break } from '@/scripts/testing/breaking-line';
import type { Place } from './lane';
import { sleep } from './relay';
import type { Replicas } from './replicas';

export interface Scene {
  place: Place;
  replicas: Replicas;
  hand: Random;
  /** The process that has the lease; null if none. */
  owner: () => Promise<number | null>;
  /** The run is over: nothing commits any more. */
  over: () => boolean;
}

export interface Fault {
  key: string;
  engines: readonly EngineKey[];
  /** The process that carries the run out ends or loses its lease. */
  kills?: true;
  /** It goes down with all databases of the lane. */
  stopsServer?: true;
  strike(scene: Scene): Promise<void>;
}

const away = (hand: Random): Promise<void> => sleep(hand.int(200, 1_300));
/** Longer than a lease. */
const PAST_LEASE = [1_100, 1_700] as const;

/** Resolves when the operator's next commit has broken this way, false if the run was over before. */
async function atCommit({ place: { lines }, over }: Scene, when: Break): Promise<boolean> {
  let broke = false;
  lines.operator.breakAt(when, () => (broke = true));
  while (!broke && !over()) await sleep(2);
  return broke;
}

const cutAtCommit =
  (when: Break, cuts: boolean): Fault['strike'] =>
  async (scene) => {
    const { lines } = scene.place;
    if ((await atCommit(scene, when)) && cuts) {
      for (const line of [lines.reader, lines.operator]) line.cut();
      await away(scene.hand);
    }
    if (when === 'swallowed') await away(scene.hand);
    for (const line of [lines.reader, lines.operator]) line.mend();
  };

async function terminate({ place: { database }, hand }: Scene): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    if (database.engine === 'postgres')
      await database
        .query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()')
        .catch(() => undefined);
    else {
      const threads = await database.query<{ id: string }>(
        'SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND db = database()',
      );
      for (const { id } of threads) await database.query(`KILL ${id}`).catch(() => undefined);
    }
    await sleep(hand.int(20, 300));
  }
}

export const FAULTS: readonly Fault[] = [
  { key: 'backends terminated', engines: ENGINE_KEYS, strike: terminate },
  { key: 'cut before COMMIT', engines: ENGINE_KEYS, strike: cutAtCommit('before', false) },
  { key: 'cut inside COMMIT', engines: ENGINE_KEYS, strike: cutAtCommit('inside', false) },
  { key: 'cut after COMMIT', engines: ENGINE_KEYS, strike: cutAtCommit('after', false) },
  { key: 'away from COMMIT on', engines: ENGINE_KEYS, strike: cutAtCommit('after', true) },
  { key: 'answer swallowed', engines: ENGINE_KEYS, strike: cutAtCommit('swallowed', false) },
  {
    key: 'delay',
    engines: ENGINE_KEYS,
    async strike({ place: { lines }, hand }) {
      const slow = hand.pick([lines.reader, lines.operator, lines.store]);
      slow.delay(hand.int(5, 60));
      await away(hand);
      slow.delay(0);
    },
  },
  {
    key: 'half-open',
    engines: ENGINE_KEYS,
    async strike({ place: { lines }, hand }) {
      const some = hand.pick([[lines.reader], [lines.operator], [lines.store], [lines.reader, lines.operator]]);
      for (const line of some) line.halfOpen();
      await away(hand);
      for (const line of some) line.mend();
    },
  },
  {
    key: 'store cut',
    engines: ENGINE_KEYS,
    async strike({ place: { lines }, hand }) {
      lines.store.cut();
      await away(hand);
      lines.store.mend();
    },
  },
  {
    key: 'store cut at COMMIT',
    engines: ENGINE_KEYS,
    async strike(scene) {
      const { store } = scene.place.lines;
      await Promise.race([atCommit(scene, 'after'), sleep(5_000)]);
      store.cut();
      await away(scene.hand);
      store.mend();
      scene.place.lines.operator.mend();
    },
  },
  {
    key: 'immediate stop',
    engines: ['postgres'],
    stopsServer: true,
    async strike({ place: { postgres }, hand }) {
      await sleep(hand.int(0, 100));
      await postgres.stopAtOnce();
      await sleep(hand.int(0, 800));
      await postgres.start();
    },
  },
  {
    key: 'killed',
    engines: ENGINE_KEYS,
    kills: true,
    async strike(scene) {
      const { replicas, hand } = scene;
      await sleep(hand.int(0, 120));
      await replicas.killOwner(await scene.owner());
    },
  },
  {
    key: 'killed at COMMIT',
    engines: ENGINE_KEYS,
    kills: true,
    async strike(scene) {
      const { replicas, hand, place } = scene;
      // Its commit comes through or not, and it hears nothing of it.
      await atCommit(scene, hand.pick(['before', 'inside', 'after', 'swallowed']));
      await replicas.killOwner(await scene.owner());
      place.lines.operator.mend();
    },
  },
  {
    key: 'stopped past its lease',
    engines: ENGINE_KEYS,
    kills: true,
    async strike(scene) {
      const { replicas, hand } = scene;
      await sleep(hand.int(0, 120));
      await replicas.stopOwner(await scene.owner(), hand.int(...PAST_LEASE));
      await sleep(hand.int(0, 300));
      await replicas.thin(2);
    },
  },
];
