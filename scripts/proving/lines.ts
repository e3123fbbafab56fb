import en from '@/lib/messages/en.json' with { type: 'json' };
import type { ProofDocument, ProofResult } from '@/lib/shared/changes/proofs';

const MARK = { round_trips: 'ok  ', does_not: 'FAIL', untried: '?   ' } as const;
const OUTCOME = {
  proven: 'Proven. Nothing of it remains in the database.',
  incomplete: 'Operations that failed are refused, the others can be used. Nothing of it remains in the database.',
  failed: 'Not proven: no operation does what it says, so no event can be changed. Correct the mapping or the table and prove it again.',
} as const;

/** A proof for a person at a terminal; `changesOn` as it is now that the proof is known. */
export function proofLines(document: ProofDocument, changesOn: boolean): string[] {
  const { results, warnings, triggers, notOffered, outcome, outbox } = document;
  return [
    ...results.flatMap(resultLines),
    ...notOffered.map(({ operation, because }) => `-    ${operation}: not offered (${refusals[because] ?? because})`),
    ...triggers.map(({ table, name, timing, events }) => `     trigger ${name} on ${table} runs ${timing} ${events.join(', ')}`),
    ...warnings.map(({ code, table, name, found }) => `!    ${said[code] ?? code} ${[table, name, found].filter(Boolean).join(' · ')}`),
    ...(results.length === 0 ? [en.proof.nothing] : [OUTCOME[outcome]]),
    ...(outcome !== 'failed'
      ? [changesOn ? 'Changes are on.' : `Changes are off: an administrator can turn them on, on the page /outboxes/${outbox}/settings.`]
      : []),
  ];
}

const refusals: Record<string, string> = en.refusals;
const said: Record<string, string> = en.proof.warning;

function resultLines(result: ProofResult): string[] {
  const { operation, state, table, verdict, because, detail, rows, changed, stateAfter, statements } = result;
  const came = verdict === 'round_trips' ? `${state} → ${stateAfter ?? ''}` : state;
  const why = because === null ? '' : `: ${sentence(because)}${detail === null ? '' : ` (${detail})`}`;
  const on = rows.length === 0 ? '' : `, on ${rows.join(', ')}`;
  return [
    `${MARK[verdict]} ${operation} ${came} in ${table}${on}${why}${changed.length === 0 ? '' : ` [${changed.join(', ')}]`}`,
    ...(verdict === 'does_not' ? statements.map((text) => `       ${text.replaceAll('\n', ' ')}`) : []),
  ];
}

/** What the screen says of a code, so that both say the same; `{` begins what depends on more than the code. */
function sentence(code: string): string {
  const groups: Record<string, string>[] = [en.proof.because, en.refusals, en.skips];
  const found = groups.map((group) => group[code]).find((text) => text !== undefined && !text.startsWith('{'));
  return (found ?? code).replaceAll("''", "'");
}
