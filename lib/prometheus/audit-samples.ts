import type { Carrying } from '@/lib/shared/changes/carrying';
import type { Sample } from './samples';

/** Of each database, whether its intervention records are all in the audit. */
export function auditSamples(carrying: readonly Carrying[]): Sample[] {
  return carrying.flatMap(({ database, why, lacking, completeAt }): Sample[] => {
    const labels = { database };
    return [
      { family: 'outbox_console_audit_complete', labels, value: Number(why === null) },
      ...(lacking === null ? [] : [{ family: 'outbox_console_audit_lacking_records' as const, labels, value: lacking }]),
      ...(completeAt === null
        ? []
        : [{ family: 'outbox_console_audit_complete_timestamp_seconds' as const, labels, value: Date.parse(completeAt) / 1_000 }]),
    ];
  });
}
