import type { EventState } from '../states';

/** Larger than what is read unasked, or than what is ever read; `not_now`: its database took too long or had no connection for it. */
export type Unread = 'on_request' | 'too_large' | 'not_now';

/** A payload or headers as text, digits exact. */
export interface Content {
  /** The text shown, masked by role and cut at `shownBytes`; null when the column holds NULL, and where `unread` says why. */
  text: string | null;
  /** `json` when the text parses as JSON, `text` otherwise, `binary` for bytes shown as hex. */
  format: 'json' | 'text' | 'binary';
  /** null where it is not known, or would tell of masked values how well they compress. */
  bytes: number | null;
  /** `estimated`: from how it is stored, without reading it. */
  bytesKnown: 'exact' | 'estimated';
  /** null when it was read. */
  unread: Unread | null;
  shownBytes: number;
  cut: boolean;
  /** True when paths were masked for this viewer. */
  masked: boolean;
  /** What the shape says of how to read it, for instance `many_messages`; words under `warnings.<code>`. Null when nothing. */
  warning: string | null;
}

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

/** What stands in a masked place. */
export const MASK = '••••';

/** Digits as many as a card number has, as they are written: masked in free text where their check digit is that of a card. */
export const CARD_DIGITS = /\b\d(?:[ -]?\d){12,18}\b/g;
