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
