import 'server-only';
import { hiddenFields } from '@/lib/outbox/masking/hidden-fields';
import type { Found } from '@/lib/shared/lists/found';
import type { Context } from '../context';
import { parseInput } from '../input';
import { findQuery } from '../schemas';
import { seesAll, shownEvents } from './shown';

const NONE: ReadonlySet<string> = new Set();

/** What became of a key, as this actor may see it, within two seconds. Throws Problem `invalid`, `not_found`, `too_many`. */
export async function readFound(context: Context, key: string, outboxes?: readonly string[]): Promise<Found> {
  const { directory, keyFates } = context.console;
  parseInput(findQuery, { key });
  const hidden = new Map(
    (outboxes ?? directory.ids).map((id) => [id, seesAll(context) ? NONE : hiddenFields(directory.settings(id))] as const),
  );
  return keyFates.find({
    key,
    as: context.actor.role,
    outboxes: [...hidden.keys()],
    hidden: (outbox) => hidden.get(outbox) ?? NONE,
    shown: (outbox, events) => shownEvents(context, outbox, events),
  });
}
