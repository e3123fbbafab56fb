import { BOTH, type Check } from '../check';

const NEAR_SHARE = 0.75;
const GRAVE_SHARE = 0.9;

/** The numbers of the key run out: after the last one no event can be written, nor anything in its transaction. */
export const sequenceEndingCheck: Check = {
  id: 'sequence_ending',
  engines: BOTH,
  examine({ facts: { sequence } }) {
    if (sequence === null || sequence.usedShare < NEAR_SHARE) return [];
    const { column, last, limit, usedShare, widen } = sequence;
    return [
      {
        severity: usedShare >= GRAVE_SHARE ? 'act' : 'watch',
        subject: column,
        values: { column, last: Number(last), limit: Number(limit), usedShare },
        ...(widen === null ? {} : { cure: widen }),
      },
    ];
  },
};
