import type { DemoOutbox } from '../outboxes/outbox';
import type { Random } from '../random';
import type { Connection } from '../schema/table';
import type { SinkControl } from '../sink/client';
import type { Story } from '../story/story';

/** What a fault script works with. */
export interface FaultStage {
  outbox: DemoOutbox;
  connectionString: string;
  /** A connection of the script's own to the outbox's database. */
  client: Connection;
  sink: SinkControl;
  random: Random;
  story: Story;
  /** Milliseconds since the epoch: the end of the history. */
  now: number;
  /** Resolves after `ms`, or at once when the demo ends; false then. */
  pause(ms: number): Promise<boolean>;
}

/** How one outbox is made to fail. */
export interface FaultScript {
  /** Before the relays and the traffic start. */
  before?(stage: FaultStage): Promise<void>;
  /** While they run; ends when `pause` answers false. */
  during?(stage: FaultStage): Promise<void>;
}
