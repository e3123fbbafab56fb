import type { Random } from '../random';
import type { Connection } from '../database/service';
import type { OutboxTable } from '../schema/table';
import type { SinkControl } from '../sink/client';
import type { Story } from '../story/story';

/** What a fault script works with. */
export interface FaultStage {
  /** Its id, its service's own table and how its table is written. */
  outbox: { id: string; business: string; table: OutboxTable };
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
