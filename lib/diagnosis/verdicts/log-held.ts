import { heldBackOf } from '@/lib/outbox/replication-slots/progress';
import { fact, factIfKnown, isoOf, slotHistory, type VerdictRule } from '../evidence/circumstances';

/** A replication slot holds more log than its server allows, or than a disk should: soon the slot is lost, or the disk is full. */
export const logHeldVerdict: VerdictRule = {
  verdict: 'log_held',
  judge(circumstances) {
    const held = heldBackOf(slotHistory(circumstances));
    if (held === null) return null;
    const { since, slot, heldBytes, lagBytes, endangered } = held;
    const threat = fact(endangered ? 'slot_endangered' : 'slot_fills_disk');
    return { since: isoOf(since), evidence: [fact('slot_holds', { slot, heldBytes }), threat, ...factIfKnown('slot_lag', { lagBytes })] };
  },
};
