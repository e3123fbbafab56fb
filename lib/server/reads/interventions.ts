import 'server-only';
import { intervene } from '@/lib/interventions/intervene';
import { findByKey, findIntervention } from '@/lib/interventions/find-intervention';
import { NO_RECORD_AFTER_MS } from '@/lib/shared/changes/intervention-time';
import type { InterventionRequest, InterventionResult } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import type { Context } from '../context';

/** Carries an intervention out, once per key and asker. Throws Problem as `intervene` does. */
export function carryOutIntervention(
  { console, actor, elapsedMs }: Context,
  outboxId: string,
  request: InterventionRequest,
  key: string,
): Promise<InterventionResult> {
  return intervene(console.interventions, actor, outboxId, request, key, elapsedMs);
}

/** The answer an intervention gave, or what has become of it since. Throws Problem `not_found`. */
export async function interventionById({ console }: Context, id: string): Promise<InterventionResult> {
  const found = await findIntervention(console.interventions, id);
  if (found === null) throw new Problem('not_found', 'There is no such intervention');
  return found;
}

/** The answer a key of the asker's own gave on an outbox. Throws Problem `not_found`, or as `findByKey` does. */
export async function interventionByKey({ console, actor }: Context, outboxId: string, key: string): Promise<InterventionResult> {
  const found = await findByKey(console.interventions, { outbox: outboxId, actor, key });
  if (found === null) {
    throw new Problem(
      'not_found',
      `No intervention with this key was carried out on this outbox. One that was sent less than ${NO_RECORD_AFTER_MS / 1_000} seconds ago may be yet`,
    );
  }
  return found;
}
