/** Of how many event types an outbox keeps a series of its own; the rest share one. */
export const TYPES_KEPT = 200;

/** The series of all types together. */
export const ALL_TYPES = '*';
/** The series of the types beyond TYPES_KEPT, and of events without a type. */
export const OTHER_TYPES = '~';

/** The key of one event type's series. */
export const seriesOfType = (type: string): string => `=${type}`;

/** The event type of a series; null for the two that are of several. */
export const typeOfSeries = (series: string): string | null => (series.startsWith('=') ? series.slice(1) : null);
