import type { Check } from '../check';

/** Times that are no times, `0000-00-00`: such a row has no age, and whoever asks for old rows may take it or leave it. */
export const zeroDatesCheck: Check = {
  id: 'zero_dates',
  engines: ['mysql'],
  examine({ facts: { rows } }) {
    if (rows.zeroDates === null || rows.zeroDates.events === 0) return [];
    return [
      { severity: 'watch', subject: rows.zeroDates.column, values: { column: rows.zeroDates.column, events: rows.zeroDates.events } },
    ];
  },
};
