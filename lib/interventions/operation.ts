import type { RawBuilder } from 'kysely';
import type { Db } from '@/lib/database/description';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import type { PlaceSql } from '@/lib/outbox/rows/row';
import { idFits } from '@/lib/outbox/rows/row-id';
import { decodeVersion, type Version } from '@/lib/outbox/rows/version';
import type { Call } from '@/lib/shape/schema/operation';
import type { Value } from '@/lib/shape/shape';
import type { SeenEvent, SkipCode } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';
import type { LiveState, State } from '@/lib/shared/states';

/** One guarded way to change rows: which rows of which table, what the version covers, and what is written or where they go. */
export interface Step {
  source: Place;
  target: Place | null;
  /** It leaves them dead. */
  dead: boolean;
  /** Which rows of the source this step applies to, apart from key and version. */
  match(at: PlaceSql): RawBuilder<boolean>;
  version: 'exact' | 'stable';
  set: Record<string, Value>;
  /** The library's function that changes the rows instead of `set`. */
  call: Call | null;
  /** Rows whose time in this column is not older than the outbox's `stuckAfter` are `too_young`. */
  olderThanStuckAfter: string | null;
  notify: { channel: string; column: string } | null;
  warnings: string[];
}

/** The defaults of a step that moves rows unchanged. */
export const PLAIN_STEP = { dead: false, set: {}, call: null, olderThanStuckAfter: null, notify: null, warnings: [] };

/** Why an operation leaves a row in this state alone. `because` is a message key under `refusals.<code>`. */
export type Refusal = { code: SkipCode; because: string | null };

export interface Operation {
  key: string;
  undo: string | null;
  /** The relay may publish the rows it leaves, so it skips rows that a rule says are published. */
  sendsAgain: boolean;
  /** Every way this operation changes rows of this outbox; [] if the shape refuses it. */
  steps(outbox: Outbox): Step[];
  /** The refusal for a row in this state that no step applies to; null if a step does. */
  refusal(outbox: Outbox, state: State): Refusal | null;
}

/** Two requests with the same outbox, actor and key are the same try. */
export type ActorsKey = { outbox: string; actor: Actor; key: string };

/** Who archives and why, for the archive's own columns. */
export type Author = Record<'interventionId' | 'actorName' | 'reason', string>;

export type Change = { outbox: Outbox; db: Db; operation: Operation; author: Author };

export type Seen = { id: string; version: Version };

/** A row as requested; `version` is null if the token is not ours, or the id cannot be one of this table's. */
export type Asked = Seen | { id: string; version: null };

export const asked = ({ main, database }: Outbox, events: readonly SeenEvent[]): Asked[] =>
  events.map(({ id, version }) => ({ id, version: idFits(database.engine, main, id) ? decodeVersion(version) : null }));

/** The refusal that all operations share: published rows stay published, and claimed rows are left to the relay. */
export function generalRefusal(state: State): Refusal {
  if (state === 'published') return { code: 'already_published', because: null };
  if (state === 'processing') return { code: 'being_processed', because: null };
  return { code: 'wrong_state', because: null };
}

export const isLive = (state: State): state is LiveState => state !== 'archived';

/** The steps of an operation; [] if it failed its proof on this table. */
export const stepsOf = (outbox: Outbox, operation: Operation): Step[] =>
  outbox.refused.includes(operation.key) ? [] : operation.steps(outbox);
