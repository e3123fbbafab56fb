import { sql } from 'kysely';
import { statePredicate } from '@/lib/shape/compile';
import type { LiveState } from '@/lib/shared/states';
import type { Place } from '@/lib/shape/bound';
import { generalRefusal, isLive, PLAIN_STEP, type Operation, type Step } from '../operation';
import { rowsWhere } from './rules';

/** Moves rows from the outbox into the archive. Dead rows are compared exactly, waiting ones by what no relay changes. */
export const archiveOperation: Operation = {
  key: 'archive',
  undo: 'restore',
  sendsAgain: false,
  steps(outbox) {
    const { shape, archive } = outbox;
    if (shape.archive === undefined || archive === null) return [];
    const { from, guard, warnings } = shape.archive;
    const step = (source: Place, match: Step['match']): Step => ({ ...PLAIN_STEP, source, target: archive, version: 'exact', match });
    const fromMain = (states: LiveState[]): Step[] => {
      if (statePredicate(shape, states, 'o', outbox.scope) === null) return [];
      return [step(outbox.main, (at) => rowsWhere(outbox, guard, at, statePredicate(shape, states, at.alias, outbox.scope) ?? sql`false`))];
    };
    const waiting = fromMain(from.filter((state) => state !== 'dead' && state !== 'processing'));
    const steps = waiting.map((one): Step => ({ ...one, version: 'stable', warnings }));
    if (!from.includes('dead')) return steps;
    return [...steps, ...fromMain(['dead']), ...(outbox.dead === null ? [] : [step(outbox.dead, () => sql`true`)])];
  },
  refusal(outbox, state) {
    if (outbox.shape.archive === undefined) return { code: 'not_supported', because: outbox.shape.noArchive ?? 'not_in_schema' };
    if (isLive(state) && state !== 'processing' && outbox.shape.archive.from.includes(state)) return null;
    return generalRefusal(state);
  },
};
