import type { RawBuilder } from 'kysely';
import type { Db } from '@/lib/database/description';
import type { Outbox } from '@/lib/outbox/outbox';
import type { Place } from '@/lib/shape/bound';
import type { PlaceSql } from '@/lib/outbox/rows/row';
import { idFits } from '@/lib/outbox/rows/row-id';
import { decodeVersion, type Version } from '@/lib/outbox/rows/version';
import type { Call } from '@/lib/shape/schema/operation';
import type { Value } from '@/lib/shape/shape';
import type { SeenEvent } from '@/lib/shared/changes/batches';
import type { SkipCode } from '@/lib/shared/model';
import type { Actor } from '@/lib/shared/permissions';
import type { LiveState, State } from '@/lib/shared/states';

/** One guarded way of changing rows: which rows of which table, what the version covers, and what becomes of them. */
export interface Step {
  source: Place;
  target: Place | null;
  /** Which rows of the source this step is for, beside key and version. */
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

/** What a step says that moves rows as they are. */
export const PLAIN_STEP = { set: {}, call: null, olderThanStuckAfter: null, notify: null, warnings: [] };

/** Why an operation leaves a row in this state alone. `because` names a sentence under `refusals.<code>`. */
export interface Refusal {
  code: SkipCode;
  because: string | null;
}

export interface Operation {
  key: string;
  undo: string | null;
  /** The relay may take what it leaves: rows that a rule says are out are not for it. */
  sendsAgain: boolean;
  /** Every way this operation changes rows of this outbox; [] where the shape refuses it. */
  steps(outbox: Outbox): Step[];
  /** What it says to a row in this state when no step is for it; null when a step is. */
  refusal(outbox: Outbox, state: State): Refusal | null;
}

/** Whose key, and on which outbox: what makes two requests the same try. */
export interface ActorsKey {
  outbox: string;
  actor: Actor;
  key: string;
}

/** Who archives and why, for the columns an archived row carries. */
export interface Author {
  interventionId: string;
  actorName: string;
  reason: string;
}

export interface Change {
  outbox: Outbox;
  db: Db;
  operation: Operation;
  author: Author;
}

export interface Seen {
  id: string;
  version: Version;
}

/** A row as it was asked for: without a version when the token is none of ours, or its id cannot be one of this table's. */
export type Asked = Seen | { id: string; version: null };

export function asked({ main, database }: Outbox, events: readonly SeenEvent[]): Asked[] {
  return events.map(({ id, version }) => ({ id, version: idFits(database.engine, main, id) ? decodeVersion(version) : null }));
}

/** The refusal every operation shares: what is out stays out, and what the relay holds is the relay's. */
export function generalRefusal(state: State): Refusal {
  if (state === 'published') return { code: 'already_published', because: null };
  if (state === 'processing') return { code: 'being_processed', because: null };
  return { code: 'wrong_state', because: null };
}

export const isLive = (state: State): state is LiveState => state !== 'archived';

/** The steps of an operation that has not failed its proof on this table. */
export const stepsOf = (outbox: Outbox, operation: Operation): Step[] =>
  outbox.refused.includes(operation.key) ? [] : operation.steps(outbox);
