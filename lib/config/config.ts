/** The configuration as the product uses it: checked, with defaults filled in. */
import type { ShapeSettings } from '@/lib/shape/bound';
import type { TableRef } from '@/lib/shape/schema/names';
import type { Words } from '@/lib/shape/check';
import type { Shape } from '@/lib/shape/shape';
import type { EngineKey } from '@/lib/shared/model';

export interface DatabaseConfig {
  id: string;
  engine: EngineKey;
  url: string;
  /** The operator's connection string; without it the database's outboxes are read-only. */
  operatorUrl: string | null;
}

export interface OutboxConfig extends Record<'id' | 'name' | 'database', string> {
  /** As written; the catalogue decides the exact spelling. */
  table: TableRef;
  /** Key of a built-in shape, or a mapping with the key `inline`. */
  shape: string | Shape;
  /** Override the shape's parameters; undefined means the shape's default. */
  parameters: ShapeSettings['parameters'];
  /** `url` has `{field}` placeholders: event fields, `{payload.a.b}`, `{headers.x}`. */
  links: { label: string; url: string }[];
  /** Paths of an event's amount and currency, such as `payload.amount`. */
  amount: { value: string; currency?: string } | null;
  /** Paths such as `payload.customer.email`, `headers.authorization`; `*` matches every key or index. */
  mask: string[];
  /** Paths of business keys, such as `payload.order_id`, that events are found by. */
  keys: string[];
  /** Address of the page that says what to do when the relay has stopped. */
  runbook: string | null;
  /** Of event types: whether who consumes them takes an event twice without harm. */
  consumers: Record<string, 'idempotent' | 'not'>;
}

/** When a second person is asked; any limit that is passed asks, and a rule without limits always does. */
export interface ApprovalRule {
  /** null: all of them. */
  outboxes: string[] | null;
  operations: string[] | null;
  /** More events than this. */
  rows: number | null;
  /** More than this in all: currency ('' for amounts without one) → decimal text. */
  amount: Record<string, string> | null;
  /** Events of a type that `consumers` does not call idempotent. */
  notIdempotent: boolean;
}

/** Signs tokens that open cards. HS256 has a `secret`, EdDSA a `publicKey` (Ed25519, SPKI PEM). */
export interface EmbeddingKey {
  /** What a token's header names as `kid`. */
  id: string;
  algorithm: 'HS256' | 'EdDSA';
  secret?: string;
  publicKey?: string;
  /** null: all of them. */
  outboxes: string[] | null;
}

export interface Config {
  path: string;
  /** Connection string of the store; null for the embedded one. */
  storeUrl: string | null;
  databases: DatabaseConfig[];
  outboxes: OutboxConfig[];
  connections: { perServer: number };
  /** `trustedProxies`: addresses and networks whose X-Forwarded-For is trusted. */
  auth: { sessionHours: number; trustedProxies: string[] };
  /** `tickMs`: how often the collector reads an outbox if that is cheap. */
  metrics: { anonymous: boolean; tickMs: number };
  approvals: ApprovalRule[];
  /** Days to keep the history's hours and days. */
  retention: { rollupDays: number };
  /** Who may show cards, `origins` as browsers write them, and see them; null: nobody. */
  embedding: { origins: string[]; session: boolean; keys: EmbeddingKey[] } | null;
  /** A line for each key that this version accepts but ignores; printed at start. */
  unused: string[];
}

export interface Supported {
  shapes: readonly Pick<Shape, 'key' | 'engines' | 'parameters'>[];
  /** Codes of refusals and warnings that have a text; if left out, any code is valid. */
  words?: Words;
}

/** `places` are the indexes of its outboxes in the file. */
export type UsablePart = { config: Config; places: readonly number[] };

/** For a file with problems, `usable` is the part without any: its tables can still be checked. */
export type ConfigReading = { ok: true; config: Config } | { ok: false; problems: string[]; usable: UsablePart | null };
