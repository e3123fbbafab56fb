import type { Check } from '../check';

const LONG = 50_000;
const GRAVE = 1_000_000;

/** InnoDB keeps old row versions that nobody has purged: every read of a row the relay rewrites walks through them. */
export const purgeLagCheck: Check = {
  id: 'purge_lag',
  engines: ['mysql'],
  examine({ facts: { innodb, holders } }) {
    const historyLength = innodb?.historyLength ?? null;
    if (historyLength === null || historyLength < LONG) return [];
    const [oldest] = holders;
    const values = { historyLength, user: oldest?.user ?? null, who: oldest?.who ?? null, ageMs: oldest?.ageMs ?? null };
    return [{ severity: historyLength >= GRAVE ? 'act' : 'watch', values, ...(oldest?.end == null ? {} : { cure: oldest.end }) }];
  },
};
