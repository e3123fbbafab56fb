/** Which event types of an outbox have a label of their own. */

export const TYPES_MAX = 50;
export const OTHER = 'other';
/** As long as a reading keeps a type. */
const TYPE_LENGTH_MAX = 200;

export interface TypeLabels {
  /** The label of a type: its own for the first 50 of an outbox, `other` for the rest. Never changes while the process runs. */
  labelOf(outbox: string, type: string): string;
  /** The types that have a label of their own, whole, in no particular order. */
  kept(outbox: string): string[];
}

/**
 * First come, first kept: were the busiest 50 chosen anew each time, types would move in and out of `other`, and a total
 * that falls reads as a restart.
 */
export function createTypeLabels(): TypeLabels {
  const outboxes = new Map<string, Map<string, string>>();
  const ofOutbox = (outbox: string): Map<string, string> => {
    const own = outboxes.get(outbox) ?? new Map<string, string>();
    outboxes.set(outbox, own);
    return own;
  };
  return {
    labelOf(outbox, type) {
      const own = ofOutbox(outbox);
      const known = own.get(type);
      if (known !== undefined) return known;
      const label = type.slice(0, TYPE_LENGTH_MAX).toWellFormed();
      // To Prometheus an empty label is none at all.
      if (label === '' || label === OTHER || own.size >= TYPES_MAX) return OTHER;
      own.set(type, label);
      return label;
    },
    kept: (outbox) => [...ofOutbox(outbox).keys()],
  };
}
