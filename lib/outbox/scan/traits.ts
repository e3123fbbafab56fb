import type { ColumnDescription } from '@/lib/database/description';
import { capabilitiesOf } from '../capabilities';
import { livePlaces, type Outbox } from '../outbox';
import { isTime, plainColumn, type Place } from '@/lib/shape/bound';
import type { ValueRole } from '@/lib/shape/shape';
import type { SlotSight } from '../replication-slots/seen';
import type { UnavailableReason } from '@/lib/shared/figures/measured';
import type { State } from '@/lib/shared/states';

/** What a table can show, whatever its rows hold. */
export type Traits = ReturnType<typeof traitsOf>;

/** `slots`: how a reading observes the relay. `acted`: operators have changed rows of late. */
export function traitsOf(outbox: Outbox, slots: SlotSight | null = null, acted = false) {
  const { main, dead, shape } = outbox;
  const { states, keepsOrder } = capabilitiesOf(outbox);
  const attempts = plainColumn(main, 'attempts');
  const claims = shape.states.some((rule) => rule.state === 'processing');
  return {
    /** null if the state can be shown, otherwise why not. */
    cannotShow: Object.fromEntries(Object.entries(states).map(([state, can]) => [state, can.available ? null : can.because])) as Record<
      State,
      UnavailableReason | null
    >,
    createdAt: hasTime(main, 'createdAt'),
    publishedAt: hasTime(main, 'publishedAt'),
    /** Rows are read with their ids. */
    ids: acted || !hasTime(main, 'createdAt'),
    /** Rows say when they are due. */
    dueTime: hasTime(main, 'availableAt'),
    publishedState: shape.states.some((rule) => rule.state === 'published'),
    /** The relay records when it claims a row. */
    claimTime: claims && hasTime(main, 'attemptedAt'),
    attempts: attempts !== null && (attempts.kind === 'integer' || attempts.kind === 'decimal'),
    /** The counter rises with each claim, so that 1 means "first attempt"; otherwise it counts failures. */
    countsClaims: shape.attemptsCount === undefined ? claims : shape.attemptsCount === 'claims',
    /** Dead rows have an exact or approximate time of death. */
    deathTime: dead === null ? hasTime(main, 'diedAt') || hasTime(main, 'attemptedAt') : hasTime(dead, 'diedAt'),
    /** Smallest difference between two times of the table, in milliseconds. */
    resolutionMs: {
      latency: resolutionOf(outbox, 'createdAt', 'publishedAt'),
      processing: resolutionOf(outbox, 'attemptedAt', 'publishedAt'),
      attempted: resolutionOf(outbox, 'attemptedAt'),
    },
    stuckAfterSeconds: outbox.parameters.stuckAfterSeconds,
    keepsOrder,
    /** How the relay is observed if the table's rows do not show it; otherwise null. */
    slots,
    tables: livePlaces(outbox)
      .filter((place) => place.description.kind === 'table')
      .map((place) => ({ schema: place.table.schema ?? outbox.database.engine.defaultSchema ?? '', table: place.table.table })),
  };
}

/** The coarser of two times; one read from inside a text is unknown and counts as 0. */
function resolutionOf({ main, database }: Outbox, ...roles: ValueRole[]): number {
  const each = roles.flatMap((role) => {
    const bound = main.roles[role];
    return bound === undefined || bound.path.length > 0 || bound.constant !== null ? [] : [database.engine.timeResolutionMs(bound.column)];
  });
  return Math.max(0, ...each);
}

/** The column of a role that holds a time itself, so that an index can lead with it; null for a computed time. */
export function ownTime(place: Place, role: ValueRole): ColumnDescription | null {
  const column = plainColumn(place, role);
  return column !== null && isTime(column) ? column : null;
}

export const timeColumn = (place: Place, role: ValueRole): string | null => ownTime(place, role)?.name ?? null;

/** Whether a role is a time: a column's own, or a computed one. */
export function hasTime(place: Place, role: ValueRole): boolean {
  const bound = place.roles[role];
  return bound !== undefined && bound.constant === null && (plainColumn(place, role) === null || timeColumn(place, role) !== null);
}
