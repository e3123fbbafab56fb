import type { Check } from '../check';

const MANY_TRANSACTIONS = 10_000_000;
/** Half of what the server takes on by itself before it vacuums to save its transaction numbers, which then frees none. */
const GRAVE_TRANSACTIONS = 100_000_000;

/** A slot that confirms nothing keeps the old versions of the server's own catalogue, whatever becomes of the tables' rows. */
export const slotCatalogueCheck: Check = {
  id: 'slot_catalogue',
  engines: ['postgres'],
  examine: ({ outbox, facts: { catalogueHolders, slots } }) =>
    catalogueHolders
      // Of the outbox's own slot it is said that nobody reads it.
      .filter(({ slot, active }) => active || !slots?.found.some(({ name }) => name === slot))
      .filter(({ transactions }) => transactions >= MANY_TRANSACTIONS)
      .map(({ slot, database, active, transactions }) => ({
        severity: transactions >= GRAVE_TRANSACTIONS ? 'act' : 'watch',
        subject: slot,
        values: { slot, database, state: active ? 'active' : 'inactive', transactions },
        ...(active ? {} : { cure: `SELECT pg_drop_replication_slot(${outbox.database.engine.quote.literal(slot)});` }),
      })),
};
