import type { Count } from './measured';

/**
 * State of the replication slot behind an outbox; `unavailable` if slots cannot be read or it is unknown which one it is. Bytes are of the
 * whole server: not confirmed (`lag`), log kept for it (`held`), what can be written until that may be removed (`safe`; null: no limit).
 */
export interface SlotHealth extends Pick<Count, 'known' | 'why'>, Record<'lagBytes' | 'heldBytes' | 'safeBytes', number | null> {
  name: string | null;
  /** The configuration names none: this is the only slot a connector seems to read. */
  assumed: boolean;
  /** `lost`: the server removed log that the slot still needed. `missing`: the configured slot does not exist. */
  state: 'active' | 'inactive' | 'lost' | 'missing' | null;
  /** Since when no client is connected, ISO 8601 UTC; null while one is, and if the server does not report it (before PostgreSQL 17). */
  inactiveSince: string | null;
  /** The server's `reserved`, `extended`, `unreserved` or `lost`; null before PostgreSQL 13. */
  walStatus: string | null;
}
