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
    const dead: PastEvent[] = [];
    for (const cause of CAUSES) {
      for (let index = 0; index < cause.before; index += 1) {
        const event = nextRelease(stage);
        // More and more of them.
        const createdAt = new Date(now - 20_000 - INCIDENT_MS * random.float() ** 2);
        const error = cause.say(stage, event);
        dead.push({
          event,
          createdAt,
          state: 'dead',
          endedAt: new Date(createdAt.getTime() + random.int(4_200, 6_000)),
          attempts: MAX_ATTEMPTS,
          error,
        });
        if (cause.lasting) await fault(stage, event, error);
      }
    }
    dead.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
    await stage.outbox.table.insertPast(stage.client, dead);
  },

  async during(stage) {
    const stuck = nextRelease(stage);
    await add(stage, { ...stuck, payload: { ...stuck.payload, releaseTo: null } });
    while (await stage.pause(TRICKLE_MS * (0.5 + stage.random.float()))) {
      const drawn = stage.random.float();
      const cause = drawn < CAUSES[0].share ? CAUSES[0] : drawn < CAUSES[0].share + CAUSES[1].share ? CAUSES[1] : CAUSES[2];
      const event = nextRelease(stage);
      await fault(stage, event, cause.say(stage, event), cause.lasting ? undefined : NODE_AWAY_MS);
      await add(stage, event);
    }
  },
};

const add = (stage: FaultStage, event: StoryEvent) => record(stage.client, stage.outbox.business, stage.outbox.table, event);

const fault = (stage: FaultStage, event: StoryEvent, message: string, forMs?: number) =>
  stage.sink.setFault({ outbox: stage.outbox.id, type: event.type, eventId: event.id, mode: 'error', message, forMs });

function nextRelease({ story }: FaultStage): StoryEvent {
  for (;;) {
    const event = story.next();
    if (event.type === 'order_complete') return event;
  }
}
