import type { Known, UnavailableReason } from './measured';

/** What a log reader has confirmed of the replication slot behind an outbox. Bytes are of the whole server: its events are a part of it. */
export interface SlotHealth {
  /** `unavailable`, with `why`, where no slot can be looked at, or nobody can tell which one it is. */
  known: Known;
  why?: UnavailableReason;
  name: string | null;
  /** The configuration names none: this is the only one a connector seems to read. */
  assumed: boolean;
  /** `lost`: the server took away log that it still needed. `missing`: it is named, and not there. */
  state: 'active' | 'inactive' | 'lost' | 'missing' | null;
  /** Since when nobody is connected, ISO 8601 UTC; null while somebody is, and where the server does not tell (before PostgreSQL 17). */
  inactiveSince: string | null;
  /** Written and not confirmed by the reader. */
  lagBytes: number | null;
  /** Kept by the server for the slot. */
  heldBytes: number | null;
  /** Can still be written before the server may take away what the slot needs; null without such a limit. */
  safeBytes: number | null;
  /** `reserved`, `extended`, `unreserved` or `lost`, in the server's words; null before PostgreSQL 13. */
  walStatus: string | null;
}
