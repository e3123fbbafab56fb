import { livePlaces, type Outbox, type Place } from '@/lib/outbox/outbox';
import type { ColumnRole } from '@/lib/outbox/shape';
import type { UnavailableReason } from '@/lib/shared/measured';
import type { State } from '@/lib/shared/states';

/** What a table can say at all, whatever its rows hold. */
export interface Traits {
  /** null where the state can be shown, otherwise why not. */
  cannotShow: Record<State, UnavailableReason | null>;
  createdAt: boolean;
  publishedAt: boolean;
  publishedState: boolean;
  /** The relay writes down when it takes a row. */
  claimTime: boolean;
  attempts: boolean;
  /** The counter rises when a row is taken, so that one means "first attempt"; otherwise it counts failures. */
  countsClaims: boolean;
  /** Dead rows say, exactly or nearly, when they died. */
  deathTime: boolean;
  stuckAfterSeconds: number;
  /** The relay keeps the order of a key. */
  keepsOrder: boolean;
  /** The tables read, as the catalogue spells them. */
  tables: { schema: string; table: string }[];
}

export function traitsOf(outbox: Outbox): Traits {
  const { main, dead, shape, capabilities } = outbox;
  const attempts = main.roles.attempts;
  const shows = (state: State): UnavailableReason | null => {
    const capability = capabilities.states[state];
    return capability.available ? null : capability.because;
  };
  const claims = shape.states.some((rule) => rule.state === 'processing');
  return {
    cannotShow: {
      pending: shows('pending'),
      retrying: shows('retrying'),
      processing: shows('processing'),
      published: shows('published'),
      dead: shows('dead'),
      archived: shows('archived'),
    },
    createdAt: timeColumn(main, 'createdAt') !== null,
    publishedAt: timeColumn(main, 'publishedAt') !== null,
    publishedState: shape.states.some((rule) => rule.state === 'published'),
    claimTime: claims && timeColumn(main, 'attemptedAt') !== null,
    attempts:
      attempts !== undefined && attempts.path.length === 0 && (attempts.column.kind === 'integer' || attempts.column.kind === 'decimal'),
    countsClaims: claims,
    deathTime:
      dead === null ? timeColumn(main, 'diedAt') !== null || timeColumn(main, 'attemptedAt') !== null : timeColumn(dead, 'diedAt') !== null,
    stuckAfterSeconds: outbox.parameters.stuckAfterSeconds,
    keepsOrder: capabilities.keepsOrder,
    tables: livePlaces(outbox)
      .filter((place) => place.description.kind === 'table')
      .map((place) => ({ schema: place.table.schema ?? outbox.database.engine.defaultSchema ?? '', table: place.table.table })),
  };
}

/** The column of a role that holds a time of its own; null for a path inside JSON or a number. */
export function timeColumn(place: Place, role: ColumnRole): string | null {
  const bound = place.roles[role];
  return bound !== undefined && bound.path.length === 0 && (bound.column.kind === 'instant' || bound.column.kind === 'wall_clock')
    ? bound.column.name
    : null;
}
