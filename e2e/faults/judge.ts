/** Judges what a console said while everything broke around it. Each rule answers what broke it. */
import type { InterventionResult } from '@/lib/shared/model';
import { TABLE_RULES } from '../races/judge';
import type { FaultEvidence, Recorded, SentKey, Told } from './evidence';

/** What an answer claims: a record, that there is none, that nobody knows, or nothing (no answer, or a refusal of the question). */
function claimOf({ status, answer }: Told): 'record' | 'nothing' | 'unknown' | null {
  if (status === 404) return 'nothing';
  if (answer === null) return null;
  if (answer.outcome === 'unknown') return 'unknown';
  return answer.at === null ? 'nothing' : 'record';
}

const all = ({ tries, asked, finals }: SentKey): Told[] => [...tries, ...asked, ...finals];
const recordOf = ({ recorded }: FaultEvidence, key: string): Recorded | undefined => recorded.find((record) => record.key === key);

/** Every record is of a key that was sent, and no key has two. */
export function recordsOfKeys({ keys, recorded }: FaultEvidence): string[] {
  const sent = new Set(keys.map(({ key }) => key));
  return recorded.flatMap(({ id, key }, at) => [
    ...(sent.has(key) ? [] : [`${id} is the record of a key that nobody has sent`]),
    ...(recorded.findIndex((other) => other.key === key) === at ? [] : [`${key} has two records`]),
  ]);
}

/** Whatever was answered as done is what the record says, whenever it was answered; other answers name no event. */
export function answersAsRecorded(evidence: FaultEvidence): string[] {
  const told = (answer: InterventionResult): string => told3(answer.outcome, answer.changed, answer.skipped);
  return evidence.keys.flatMap((sent) => {
    const record = recordOf(evidence, sent.key);
    const said = record === undefined ? null : toldOf(record);
    return all(sent).flatMap((one) => {
      const { answer } = one;
      const claim = claimOf(one);
      if (answer === null || claim === null) return [];
      if (claim !== 'record')
        return answer.changed.length + answer.skipped.length === 0 ? [] : [`${sent.key}: ${answer.outcome} with events`];
      if (record === undefined) return [`${sent.key} was answered ${answer.outcome} and has no record`];
      if (answer.interventionId !== record.id) return [`${sent.key} was answered as ${answer.interventionId}, its record is ${record.id}`];
      return told(answer) === said ? [] : [`${sent.key} was answered ${told(answer)}, its record is ${String(said)}`];
    });
  });
}

const told3 = (outcome: string, changed: string[], skipped: { id: string; code: string }[]): string =>
  JSON.stringify([outcome, changed, skipped.map(({ id, code }) => [id, code])]);

function toldOf({ outcome, lines }: Recorded): string {
  const skipped = lines.flatMap(({ event_id: id, code }) => (code === null ? [] : [{ id, code }]));
  return told3(
    outcome,
    lines.flatMap(({ event_id: id, code }) => (code === null ? [id] : [])),
    skipped,
  );
}

/** An error says that this try changed nothing: a key all of whose tries were told so has no record. */
export function refusalsHold(evidence: FaultEvidence): string[] {
  return evidence.keys
    .filter(({ key, tries }) => tries.every(({ status }) => status !== null && status >= 400) && recordOf(evidence, key) !== undefined)
    .map(({ key }) => `${key} was refused every time and has a record`);
}

/** Who was told that nothing came of a key, with no try of it under way, is not surprised by a record that no later try made. */
export function nothingStaysNothing(evidence: FaultEvidence): string[] {
  return evidence.keys.flatMap(({ key, tries, asked }) => {
    if (recordOf(evidence, key) === undefined) return [];
    return asked
      .filter((one) => claimOf(one) === 'nothing' && tries.every(({ ended }) => ended <= one.sent))
      .map(() => `${key} had come to nothing, and has a record that nobody sent for`);
  });
}

/** In the end nobody is told `unknown`, and each key says what there is; one that was told `unknown` is not a stranger. */
export function settledTruly(evidence: FaultEvidence): string[] {
  return evidence.keys.flatMap((sent) => {
    const record = recordOf(evidence, sent.key);
    const [byKey] = sent.finals;
    const open = sent.finals.filter((one) => ['unknown', null].includes(claimOf(one))).map((one) => `${sent.key} is open: ${shown(one)}`);
    if (byKey === undefined) return [`${sent.key} was never asked for`];
    const said = claimOf(byKey);
    const known = [...sent.tries, ...sent.asked].some((one) => claimOf(one) === 'unknown');
    return [
      ...open,
      ...(said === 'nothing' && record !== undefined ? [`${sent.key} is said to be nothing and has a record`] : []),
      ...(byKey.status === 404 && known ? [`${sent.key} was answered unknown and is not known any more`] : []),
    ];
  });
}

const shown = ({ status, answer }: Told): string => `${String(status)} ${answer?.outcome ?? ''}`;

/** The audit has every line of every record once, and beside them only tries that were never committed. */
export function auditedOnce({ recorded, audit }: FaultEvidence): string[] {
  const name = (id: string | null, event: string | null, code: string | null): string => JSON.stringify([id, event, code]);
  const counts = new Map<string, number>();
  for (const entry of audit) {
    const one = name(entry.interventionId, entry.eventId, entry.code);
    counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  const ids = new Set(recorded.map(({ id }) => id));
  const lines = new Set(recorded.flatMap(({ id, lines }) => lines.map((line) => name(id, line.event_id, line.code))));
  return [
    ...[...lines].filter((one) => !counts.has(one)).map((one) => `${one} is not in the audit`),
    ...[...counts].filter(([, count]) => count > 1).map(([one]) => `${one} is in the audit more than once`),
    ...audit
      .filter(({ interventionId: id, eventId: event, code }) => {
        if (code === 'not_applied') return id === null || ids.has(id);
        return !lines.has(name(id, event, code));
      })
      .map((entry) => `${name(entry.interventionId, entry.eventId, entry.code)} is in the audit, and no record has it`),
  ];
}

/** The lists show every event once, in the state in which its own history has left it. */
export function shownAsItIs({ history, listed, stateOf }: FaultEvidence): string[] {
  const rows = new Map<string, { id: string; state: string | null }>();
  for (const { event_id: id, place, after } of history) {
    if (after === null) rows.delete(`${place} ${id}`);
    else rows.set(`${place} ${id}`, { id, state: place === 'main' ? stateOf(after) : place === 'dead' ? 'dead' : 'archived' });
  }
  const name = (event: { id: string; state: string | null }): string => `${event.id} as ${String(event.state)}`;
  const there = [...rows.values()].map(name);
  const shown = listed.map(name);
  const seen = new Set(shown);
  return [
    ...there.filter((one) => !seen.has(one)).map((one) => `${one} is there and not shown`),
    ...shown.filter((one, at) => !there.includes(one) || shown.indexOf(one) !== at).map((one) => `${one} is shown and not there`),
  ];
}

export const FAULT_RULES = {
  ...TABLE_RULES,
  recordsOfKeys,
  answersAsRecorded,
  refusalsHold,
  nothingStaysNothing,
  settledTruly,
  auditedOnce,
  shownAsItIs,
};
