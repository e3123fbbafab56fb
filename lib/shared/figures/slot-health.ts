import type { Known, UnavailableReason } from './measured';

/** State of the replication slot behind an outbox. Bytes are those of the whole server, of which its events are a part. */
export interface SlotHealth {
  /** `unavailable`, with `why`, if slots cannot be read or it is unknown which one it is. */
  known: Known;
  why?: UnavailableReason;
  name: string | null;
  /** The configuration names none: this is the only slot a connector seems to read. */
  assumed: boolean;
  /** `lost`: the server removed log that the slot still needed. `missing`: the configured slot does not exist. */
  state: 'active' | 'inactive' | 'lost' | 'missing' | null;
  /** Since when no client is connected, ISO 8601 UTC; null while one is, and if the server does not report it (before PostgreSQL 17). */
  inactiveSince: string | null;
  /** Written but not confirmed by the client. */
  lagBytes: number | null;
  /** Log kept by the server for the slot. */
  heldBytes: number | null;
  /** What can still be written before the server may remove log the slot needs; null without such a limit. */
  safeBytes: number | null;
  /** The server's `reserved`, `extended`, `unreserved` or `lost`; null before PostgreSQL 13. */
  walStatus: string | null;
}
