import type { Random } from '../random';
import { record, type PastEvent, type StoryEvent } from '../schema/table';
import type { FaultScript, FaultStage } from './script';

interface Cause {
  /** Dead events of this cause at the start, and the share of those that follow. */
  before: number;
  share: number;
  /** Still there: an event of this cause fails again. */
  lasting: boolean;
  say(stage: FaultStage, event: StoryEvent): string;
}

/** Three causes, each in many wordings: ids, addresses and numbers differ from event to event. */
const CAUSES: readonly [Cause, Cause, Cause] = [
  {
    before: 21,
    share: 0.5,
    lasting: false,
    say: ({ random }) => `14 UNAVAILABLE: escrow-node-${random.int(1, 4)}.internal:50051: connection refused (request ${random.hex(8)})`,
  },
  {
    before: 11,
    share: 0.3,
    lasting: true,
    say: ({ random }, event) =>
      `insufficient funds for gas: address 0x${random.hex(40)} has ${random.int(10, 400)}00000000000 wei, needs ${random.int(500, 900)}00000000000 (${event.aggregateId})`,
  },
  {
    before: 6,
    share: 0.2,
    lasting: true,
    say: ({ random }, event) =>
      `ledger refused release of ${event.aggregateId}: version ${random.int(3, 40)} expected, ${random.int(41, 90)} found`,
  },
];

const INCIDENT_MS = 25 * 60_000;
/** Before the first of them died, the first orders of this story were made. */
const QUIET_MS = 5 * 60_000;
const MAX_ATTEMPTS = 5;
/** Milliseconds between two events that will die. */
const TRICKLE_MS = 11_000;
/** How long the node stays away for a new event of the first cause; a retry after that succeeds. */
const NODE_AWAY_MS = 60_000;

/**
 * The incident: releases have been failing for twenty-five minutes for three reasons, one of them over by now, and go
 * on failing; and one release whose handler answers `false`, so that its row stays processing.
 */
export const escrowFaults: FaultScript = {
  async before(stage) {
    const { random, now } = stage;
    const causes = shuffled(
      random,
      CAUSES.flatMap((cause) => Array.from({ length: cause.before }, () => cause)),
    );
    // More and more of them.
    const times = causes.map(() => now - 20_000 - INCIDENT_MS * random.float() ** 2).sort((a, b) => a - b);
    const past: PastEvent[] = [];
    let before = now - INCIDENT_MS - QUIET_MS;
    for (const [index, cause] of causes.entries()) {
      const time = times[index] ?? now;
      const { earlier, release } = nextRelease(stage);
      const step = (time - before) / (earlier.length + 1);
      past.push(...earlier.map((event, place) => published(stage, event, before + step * (place + 1))));
      const error = cause.say(stage, release);
      const endedAt = new Date(time + random.int(4_200, 6_000));
      past.push({ event: release, createdAt: new Date(time), state: 'dead', endedAt, attempts: MAX_ATTEMPTS, error });
      if (cause.lasting) await fault(stage, release, error);
      before = time;
    }
    await stage.outbox.table.insertPast(stage.client, past);
  },

  async during(stage) {
    const first = nextRelease(stage);
    for (const event of first.earlier) await add(stage, event);
    await add(stage, { ...first.release, payload: { ...first.release.payload, releaseTo: null } });
    while (await stage.pause(TRICKLE_MS * (0.5 + stage.random.float()))) {
      const drawn = stage.random.float();
      const cause = drawn < CAUSES[0].share ? CAUSES[0] : drawn < CAUSES[0].share + CAUSES[1].share ? CAUSES[1] : CAUSES[2];
      const { earlier, release } = nextRelease(stage);
      for (const event of earlier) await add(stage, event);
      await fault(stage, release, cause.say(stage, release), cause.lasting ? undefined : NODE_AWAY_MS);
      await add(stage, release);
    }
  },
};

const add = (stage: FaultStage, event: StoryEvent) => record(stage.client, stage.outbox.business, stage.outbox.table, event);

const fault = (stage: FaultStage, event: StoryEvent, message: string, forMs?: number) =>
  stage.sink.setFault({ outbox: stage.outbox.id, type: event.type, eventId: event.id, mode: 'error', message, forMs });

/** The next release of the story, and what happened until then: ads, the order itself, orders that were cancelled. */
function nextRelease({ story }: FaultStage): { earlier: StoryEvent[]; release: StoryEvent } {
  const earlier: StoryEvent[] = [];
  for (;;) {
    const event = story.next();
    if (event.type === 'order_complete') return { earlier, release: event };
    earlier.push(event);
  }
}

function published({ random }: FaultStage, event: StoryEvent, time: number): PastEvent {
  const endedAt = new Date(time + random.logNormal(620, 0.3));
  return { event, createdAt: new Date(time), state: 'published', endedAt, attempts: 1, error: null };
}

function shuffled<T>(random: Random, items: T[]): T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.int(0, left.length - 1), 1));
}
