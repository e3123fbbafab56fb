import type { Check } from '../check';
import { attemptColumns } from '../operated-columns';
import { nameOf } from '../trend';
import { stateColumns } from '../state-columns';

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
    const changed = attemptColumns(outbox);
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
    const written = new Set([...changed, ...stateColumns(outbox.shape), outbox.main.roles.publishedAt?.column.name ?? '']);
    if (vacuum.fillfactor < 100 || main.partitioned || main.indexes.some(({ depends }) => depends.some((column) => written.has(column))))
      return [];
    return [
      { severity: 'note', values: { ...values, index: null, columns: null }, cure: `ALTER TABLE ${main.quoted} SET (fillfactor = 85);` },
    ];
  },
};
