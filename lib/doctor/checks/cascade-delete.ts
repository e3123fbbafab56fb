import { BOTH, type Check } from '../check';

/** Whoever deletes what an event is about deletes the event, published or not, and no relay or record knows of it. */
export const cascadeDeleteCheck: Check = {
  id: 'cascade_delete',
  engines: BOTH,
  examine: ({ facts }) =>
    facts.cascades.map(({ table, key, from, drop }) => ({
      severity: 'watch',
      subject: `${table} ${key}`,
      values: { table, key, other: from },
      ...(drop === null ? {} : { cure: drop }),
    })),
};
