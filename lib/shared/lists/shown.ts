import type { EventState } from '../states';

/** `on_request`: larger than what is read by itself. `too_large`: than what is ever read. `not_now`: the database was too slow or busy. */
export type Unread = 'on_request' | 'too_large' | 'not_now';

/** A payload or headers as text, digits exact. */
export interface Content {
  /** The text, masked by role and cut at `shownBytes`; null if the column is NULL or the value is unread (`unread`). */
  text: string | null;
  /** `json` if the text parses as JSON, otherwise `text`; `binary` for bytes shown as hex. */
  format: 'json' | 'text' | 'binary';
  /** null if unknown, or if it would reveal how well masked values compress. */
  bytes: number | null;
  /** `estimated`: from the stored size, without reading the value. */
  bytesKnown: 'exact' | 'estimated';
  /** null when it was read. */
  unread: Unread | null;
  shownBytes: number;
  cut: boolean;
  masked: boolean;
  /** A warning of the shape on how to read it, e.g. `many_messages`; texts under `warnings.<code>`. null if none. */
  warning: string | null;
}

/** What "newest" and "oldest" sort by, as indexes allow: creation; the last event (publishing, otherwise creation); or the key. */
export type OrderedBy = 'created' | 'happened' | 'key';

/** How a page of events was read: its order, the rows read for it, and what is missing in it. */
export interface ListScope {
  orderedBy: OrderedBy;
  /** Rows read, back to which time (of `orderedBy`; of creation for a key), and whether that was all of them. */
  searched: { rows: number; backTo: string | null; complete: boolean };
  /** States that the list has only in part, because no index finds them in a table of this size. */
  leftOut: EventState[];
  /** An index that would make the list complete or order it by creation; null if not needed. Texts under `events.missingIndex.<code>`. */
  missingIndex: { code: 'order' | 'aggregate'; sql: string } | null;
}

export const MASK = '••••';

/** As many digits as a card number, with separators; masked in free text if the check digit is right. */
export const CARD_DIGITS = /\b\d(?:[ -]?\d){12,18}\b/g;
