import { sql } from 'kysely';
import { statePredicate } from '@/lib/shape/compile';
import type { LiveState } from '@/lib/shared/states';
import { generalRefusal, isLive, type Operation, type Step } from '../operation';

/** Out of the outbox into the archive. Dead rows are compared exactly, waiting ones by what no relay changes. */
export const archiveOperation: Operation = {
  key: 'archive',
  undo: 'restore',
  sendsAgain: false,
  steps(outbox) {
    const { shape, archive } = outbox;
    if (shape.archive === undefined || archive === null) return [];
    const common = { target: archive, olderThanStuckAfter: null, notify: null, set: {}, call: null };
    const waiting = shape.archive.from.filter((state) => state !== 'dead' && state !== 'processing');
    const fromMain = (states: LiveState[], version: Step['version'], warnings: string[]): Step[] =>
      statePredicate(shape, states, 'o', outbox.scope) === null
        ? []
        : [
            {
              ...common,
              source: outbox.main,
              version,
              warnings,
              match: (at) => statePredicate(shape, states, at.alias, outbox.scope) ?? sql`false`,
            },
          ];
    const steps = [...fromMain(waiting, 'stable', shape.archive.warnings)];
    if (shape.archive.from.includes('dead')) {
      steps.push(...fromMain(['dead'], 'exact', []));
      if (outbox.dead !== null) steps.push({ ...common, source: outbox.dead, version: 'exact', warnings: [], match: () => sql`true` });
    }
    return steps;
  },
  refusal(outbox, state) {
    if (outbox.shape.archive === undefined) return { code: 'not_supported', because: outbox.shape.noArchive ?? 'not_in_schema' };
    if (isLive(state) && state !== 'processing' && outbox.shape.archive.from.includes(state)) return null;
    return generalRefusal(state);
  },
};
