import type { Check } from '../check';
import { attemptColumns, steadyColumns, touchedColumns } from '../operated-columns';
import { nameOf } from '../trend';

const LEAST_UPDATES = 5_000;
const LOW_SHARE = 0.2;

/**
 * Each attempt of the relay writes every index anew: because one holds a column that an attempt changes, or because pages
 * have no room for the new version. That publishing changes the indexes of waiting rows is their price and no finding.
 */
export const hotRatioCheck: Check = {
  id: 'hot_ratio',
  engines: ['postgres'],
  examine({ outbox, facts, cures }) {
    const { main } = facts;
    const { writes, vacuum } = main;
    if (writes === null || writes.hotUpdates === null || vacuum === null || writes.updates < LEAST_UPDATES) return [];
    const hotShare = writes.hotUpdates / writes.updates;
    if (hotShare >= LOW_SHARE) return [];
    const changed = new Set([...attemptColumns(outbox), ...touchedColumns(outbox)]);
    const culprits = main.indexes.filter(({ constraint, depends }) => !constraint && depends.some((column) => changed.has(column)));
    const values = { table: nameOf(main), updates: writes.updates, hotShare, fillfactor: vacuum.fillfactor };
    if (culprits.length > 0) {
      return culprits.map((index) => ({
        severity: 'watch',
        subject: index.name,
        values: { ...values, index: index.name, columns: index.depends.filter((column) => changed.has(column)).join(', ') },
        cure: cures.dropIndex(main, index),
      }));
    }
    // An index of a state, a time of the next attempt or the like is what it costs: room would not help.
    const steady = steadyColumns(outbox);
    if (vacuum.fillfactor < 100 || main.partitioned || main.indexes.some(({ depends }) => depends.some((column) => !steady.has(column))))
      return [];
    return [
      { severity: 'note', values: { ...values, index: null, columns: null }, cure: `ALTER TABLE ${main.quoted} SET (fillfactor = 85);` },
    ];
  },
};
