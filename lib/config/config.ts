/** The configuration as the rest of the product sees it: checked, with defaults filled in. */
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
  replicaUrl: string | null;
}

export interface OutboxConfig {
  id: string;
  name: string;
  database: string;
  /** As written; how the name is really written, the catalogue decides. */
  table: TableRef;
  /** Key of a built-in shape, or a mapping of its own with the key `inline`. */
  shape: string | Shape;
  /** Over the shape's own; undefined means the shape's default. */
  parameters: ShapeSettings['parameters'];
  /** `url` has `{field}` placeholders: event fields, `{payload.a.b}`, `{headers.x}`. */
  links: { label: string; url: string }[];
  /** Where an event's money stands: paths such as `payload.amount`. */
  amount: { value: string; currency?: string } | null;
  /** Paths such as `payload.customer.email`, `headers.authorization`; `*` stands for every key or index. */
  mask: string[];
}

export interface Config {
  path: string;
  /** Connection string of the store; null for the embedded one. */
  storeUrl: string | null;
  databases: DatabaseConfig[];
  outboxes: OutboxConfig[];
  connections: { perServer: number };
  /** `trustedProxies`: addresses and networks whose word on where a request comes from is taken. */
  auth: { sessionHours: number; trustedProxies: string[] };
  /** `tickMs`: how often the collector reads an outbox where that is cheap. */
  metrics: { anonymous: boolean; tickMs: number };
  /** For how many days hours and days of history are kept. */
  retention: { rollupDays: number };
  /** Parts of the file that this version accepts and does nothing with; printed at start. */
  unused: string[];
}

/** What this build can do, for the checks that need to know. */
export interface Supported {
  shapes: readonly Pick<Shape, 'key' | 'engines' | 'parameters'>[];
  /** Codes of refusals and warnings that have a sentence; any where this is left out. */
  words?: Words;
}

/** `places` are the numbers the outboxes of `config` have in the file. */
export interface UsablePart {
  config: Config;
  places: readonly number[];
}

/** Of a file with problems, `sound` is what none of them is about: its tables can be checked all the same. */
export type ConfigReading = { ok: true; config: Config } | { ok: false; problems: string[]; usable: UsablePart | null };
