import en from '@/lib/messages/en.json' with { type: 'json' };
import type { ProofDocument, ProofResult } from '@/lib/shared/proofs';

const MARK = { round_trips: 'ok  ', does_not: 'FAIL', untried: '?   ' } as const;
const OUTCOME = {
  proven: 'Proven. Nothing of it remains in the database.',
  failed:
    'Not proven: an operation does not do what it says, so no event can be changed. Correct the mapping or the table and prove it again.',
  incomplete:
    'Not proven: some operations could not be tried. Name an event of the state with --event, or a login of the table’s owner with --url.',
} as const;

/** A proof for a person at a terminal; `changesOn` as it is now that the proof is known. */
export function proofLines(document: ProofDocument, changesOn: boolean): string[] {
  const { results, warnings, triggers, notOffered, ran, outcome, outbox } = document;
  return [
    ...results.flatMap(resultLines),
    ...notOffered.map(({ operation, because }) => `-    ${operation}: not offered (${refusals[because] ?? because})`),
    ...triggers.map(({ table, name, timing, events }) => `     trigger ${name} on ${table} runs ${timing} ${events.join(', ')}`),
    ...warnings.map(({ code, table, name, found }) => `!    ${words('warning', code)} ${[table, name, found].filter(Boolean).join(' · ')}`),
    ...(ran.changesAs === 'owner' ? ['!    The operations ran with the owner’s login: the operator’s own rights were not tried.'] : []),
    ...(results.length === 0 ? [en.proof.nothing] : [OUTCOME[outcome]]),
    ...(outcome === 'proven'
      ? [changesOn ? 'Changes are on.' : `Changes are off: an administrator can turn them on, on the page /outboxes/${outbox}/proof.`]
      : []),
  ];
}

const refusals: Record<string, string> = en.refusals;

function resultLines(result: ProofResult): string[] {
  const { operation, state, table, verdict, because, detail, changed, stateAfter, statements } = result;
  const came = verdict === 'round_trips' ? `${state} → ${stateAfter ?? ''}` : state;
  const why =
    because === null ? '' : `: ${words(verdict === 'untried' ? 'untried' : 'failure', because)}${detail === null ? '' : ` (${detail})`}`;
  const row = result.row?.made === false ? `, on event ${result.row.id}` : '';
  return [
    `${MARK[verdict]} ${operation} ${came} in ${table}${row}${why}${changed.length === 0 ? '' : ` [${changed.join(', ')}]`}`,
    ...(verdict === 'does_not' ? statements.map(({ text }) => `       ${text.replaceAll('\n', ' ')}`) : []),
  ];
}

/** Sentences of the screen, so that both say the same. */
function words(group: 'failure' | 'untried' | 'warning', code: string): string {
  const sentences: Record<string, string> = en.proof[group];
  return sentences[code] ?? code;
}
