import type { PastOptions } from '../history/past-events';
import type { Random } from '../random';
import type { Relay, RelayOptions } from '../relays/relay';
import type { OutboxTable } from '../schema/table';
import type { FaultScript } from '../faults/script';
import type { Story } from '../story/story';

/** One of the five outboxes of record, as the demo plays it. */
export interface DemoOutbox {
  id: string;
  name: string;
  /** Key of its built-in shape. */
  shape: string;
  /** The outbox table as the configuration names it. */
  tableName: string;
  /** Name of its database in the demo's cluster. */
  database: string;
  table: OutboxTable;
  /** The service's own table, written in the transaction of each event. */
  business: string;
  story(random: Random): Story;
  /** Events per second. */
  liveRate: number;
  past: PastOptions;
  startRelays(options: RelayOptions): Relay[];
  /** The relay is what is broken: it runs only once somebody starts it. */
  relayGone?: boolean;
  faults: FaultScript;
  /** What the configuration says besides database, table and shape. */
  settings: {
    parameters?: Record<string, string | number>;
    amount?: { value: string; currency: string };
    mask?: string[];
    keys?: string[];
    links?: Record<string, string>;
  };
}

/** The parts of the payload that only some roles may read; the same in all five. */
export const PERSONAL = ['payload.customer.email', 'payload.customer.phone'];
/** The order's number, where the table has no column for it. */
export const ORDER_KEY = ['payload.orderId'];
export const AMOUNT = { value: 'payload.amount', currency: 'payload.currency' };
