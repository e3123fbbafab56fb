import type { EventState } from '../states';

/** What newest and oldest go by, as the indexes allow: creation; what happened last (being published for what is out, else creation); or the key. */
export type OrderedBy = 'created' | 'happened' | 'key';

/** What a page of events was made from: in which order, out of how many rows, and what it cannot hold. */
export interface ListScope {
  orderedBy: OrderedBy;
  /** How many rows were looked at, back to which time (of `orderedBy`; of creation for a key), and whether that was all of them. */
  searched: { rows: number; backTo: string | null; complete: boolean };
  /** States not all of whose events are in this list, because no index finds them in a table of this size. */
  leftOut: EventState[];
  /** An index that would make this list complete, or its order that of creation; null where nothing is missing. Words under `events.missingIndex.<code>`. */
  missingIndex: { code: 'order' | 'aggregate'; sql: string } | null;
}
