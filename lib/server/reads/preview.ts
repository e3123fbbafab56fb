import 'server-only';
import { previewIntervention } from '@/lib/interventions/preview';
import { presentEvent } from '@/lib/outbox/masking/mask';
import type { InterventionPreview } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import type { Context } from '../context';
import { onOutbox } from './source';

/** What an operation would do to these events now, masked for this actor; changes nothing. Throws Problem `not_found`, `invalid`, `timeout`, `unavailable`. */
export function readPreview(
  context: Context,
  outboxId: string,
  request: { operation: string; events: { id: string; version: string }[] },
): Promise<InterventionPreview> {
  return onOutbox(context, outboxId, async (outbox) => {
    const preview = await previewIntervention(outbox, request);
    const unmask = can(context.actor.role, 'payload:unmask');
    return { ...preview, rows: preview.rows.map((row) => ({ ...row, event: presentEvent(outbox, row.event, unmask) })) };
  });
}
