/** Judges a run from what really happened. Each rule answers what broke it. */
import type { RunOutcome } from '@/lib/runs/run/job';
import { RUN_FATES } from '@/lib/shared/runs/runs';
import { answersAsRecorded, auditedOnce, refusalsHold, settledTruly } from '../faults/judge';
import type { Change } from '../races/history';
import { TABLE_RULES } from '../races/judge';
import type { RunEvidence, SeenRun } from './evidence';

/** Tries at an event that somebody else held. */
const TRIES = 3;

const of = ({ runs }: RunEvidence, judge: (run: SeenRun) => string[]): string[] =>
  runs.flatMap((run) => judge(run).map((what) => `run ${run.id}: ${what}`));

const eventAt = ({ events }: SeenRun, position: number): string => events[position]?.id ?? `position ${String(position)}`;

/** What each position came to: its last outcome, and how often it was in a batch. */
function outcomesOf(run: SeenRun): Map<number, RunOutcome[]> {
  const found = new Map<number, RunOutcome[]>();
  for (const { positions, outcomes } of run.batches)
    positions.forEach((position, at) => found.set(position, [...(found.get(position) ?? []), outcomes?.[at] ?? 'remaining']));
  return found;
}

/** Changes that the run made, by event. */
function changesOf({ history }: RunEvidence, run: SeenRun): Map<string, Change[]> {
  const own = new Set(run.batches.flatMap(({ interventionId }) => interventionId ?? []));
  const changes = new Map<string, Change[]>();
  for (const change of history)
    if (change.ours && change.intervention !== null && own.has(change.intervention))
      changes.set(change.event_id, [...(changes.get(change.event_id) ?? []), change]);
  return changes;
}

/** It came to an end: cancelled, or with every event looked at, and no batch without an answer. */
export const endedAtAll = (evidence: RunEvidence): string[] =>
  of(evidence, ({ state, ended, batches, counts }) => [
    ...(ended && (state === 'done' || state === 'cancelled') ? [] : [`is ${state}`]),
    ...batches.flatMap(({ n, outcomes }) => (outcomes === null ? [`batch ${String(n)} has no answer`] : [])),
    ...(state === 'done' && counts.remaining > 0 ? [`is done with ${String(counts.remaining)} remaining`] : []),
    ...(counts.unknown > 0 ? [`says of ${String(counts.unknown)} events that nobody knows`] : []),
  ]);

/** A second person agreed to exactly what ran. */
export const agreedTo = (evidence: RunEvidence): string[] =>
  of(evidence, ({ approval, plan }) => [
    ...(approval?.state === 'approved' ? [] : [`ran ${approval?.state ?? 'without being asked for'}`]),
    ...(approval !== null && (approval.by === plan.maker || approval.by === null) ? ['was approved by its maker or nobody'] : []),
    ...(approval === null || (approval.hash === plan.hash && plan.whole) ? [] : ['is not what was agreed to']),
  ]);

/** Every event in one batch; one that was held by somebody in three at most, the earlier ones without a change. */
export const inOneBatch = (evidence: RunEvidence): string[] =>
  of(evidence, (run) =>
    [...outcomesOf(run)].flatMap(([position, outcomes]) => {
      const repeats = outcomes.slice(0, -1);
      const fair = repeats.every((outcome) => outcome === 'locked') && outcomes.length <= TRIES && run.events[position] !== undefined;
      return fair ? [] : [`${eventAt(run, position)} was in ${outcomes.join(', ')}`];
    }),
  );

/** A record per batch that was sent, of its events and outcomes; none of a run beside them, and none of anybody else. */
export function recordedByBatch(evidence: RunEvidence): string[] {
  const { recorded, keys } = evidence;
  const known = new Set(keys.map(({ key }) => key));
  const stray = recorded.filter(({ id, key }) => {
    const [word, runId, n, ...rest] = key.split('/');
    if (word !== 'run') return !known.has(key);
    const run = evidence.runs.find((one) => one.id === runId);
    return rest.length > 0 || run?.batches.find((batch) => String(batch.n) === n)?.interventionId !== id;
  });
  return [
    ...stray.map(({ id, key }) => `${id} is the record of ${key}, of which nobody knows`),
    ...recorded.filter(({ key }, at) => recorded.findIndex((other) => other.key === key) !== at).map(({ key }) => `${key} has two records`),
    ...of(evidence, (run) =>
      run.batches.flatMap(({ n, positions, interventionId, outcomes }) => {
        if (outcomes === null) return [];
        if (interventionId === null)
          return outcomes.every((outcome) => outcome === 'blocked_by_order') ? [] : [`batch ${String(n)} was answered by no record`];
        const lines = new Map(
          recorded.find(({ id }) => id === interventionId)?.lines.map((line) => [line.event_id, line.code ?? 'changed']),
        );
        const differs = positions.some((position, at) => lines.get(eventAt(run, position)) !== outcomes[at]);
        return differs || lines.size !== positions.length ? [`batch ${String(n)} has a record of something else`] : [];
      }),
    ),
  ];
}

/** No event was changed twice by it. */
export const onceByRun = (evidence: RunEvidence): string[] =>
  of(evidence, (run) =>
    [...changesOf(evidence, run)]
      .filter(([, changes]) => new Set(changes.map(({ intervention }) => intervention)).size > 1)
      .map(([id]) => `${id} was changed twice`),
  );

/** The sums are those of the batches, and add up; of what was changed, every event has a fate. */
export const sumsAdd = (evidence: RunEvidence): string[] =>
  of(evidence, (run) => {
    const { requested, changed, conflicted, locked, failed, unknown, remaining, fates } = run.counts;
    const last = [...outcomesOf(run).values()].map((outcomes) => outcomes.at(-1) ?? 'remaining');
    const count = (...codes: RunOutcome[]): number => last.filter((one) => codes.includes(one)).length;
    const own = {
      changed: count('changed'),
      locked: count('locked'),
      failed: count('did_not_take', 'not_supported', 'already_exists'),
      remaining: run.events.length - last.length + count('remaining'),
    };
    // One that was held and may be tried again is not done with when the run is cancelled.
    const open = run.state === 'cancelled' ? own.locked - locked : 0;
    const told = { changed, locked: locked + open, failed, remaining: remaining - open };
    const inFates = RUN_FATES.reduce((sum, fate) => sum + fates[fate], 0);
    return [
      ...(requested === changed + conflicted + locked + failed + unknown + remaining
        ? []
        : [`${JSON.stringify(run.counts)} does not add up`]),
      ...(requested === run.events.length ? [] : [`requested ${String(requested)} of ${String(run.events.length)}`]),
      ...(JSON.stringify(own) === JSON.stringify(told) ? [] : [`says ${JSON.stringify(told)}, its batches ${JSON.stringify(own)}`]),
      ...(inFates === (run.followed ? changed : 0) ? [] : [`${String(changed)} changed, ${String(inFates)} fates`]),
    ];
  });

/** It says to have changed what it changed in the tables, and nothing else. */
export const changedAsSaid = (evidence: RunEvidence): string[] =>
  of(evidence, (run) => {
    const said = new Set([...outcomesOf(run)].flatMap(([position, all]) => (all.includes('changed') ? [eventAt(run, position)] : [])));
    const real = changesOf(evidence, run);
    return [
      ...[...said].filter((id) => !real.has(id)).map((id) => `${id} is said to be changed, and was not`),
      ...[...real.keys()].filter((id) => !said.has(id)).map((id) => `${id} was changed, and it does not say so`),
    ];
  });

/** Whoever is said to be out is out, whoever is said to have died again has. */
export const fatesAsHappened = (evidence: RunEvidence): string[] =>
  of(evidence, (run) => {
    const changes = changesOf(evidence, run);
    return run.batches.flatMap(({ positions, fates }) =>
      positions.flatMap((position, at) => {
        const id = eventAt(run, position);
        const since = evidence.history.filter(
          (change) => change.event_id === id && Number(change.seq) >= Number(changes.get(id)?.[0]?.seq ?? Infinity),
        );
        const isOut = since.some(({ place, after }) => place === 'main' && after !== null && evidence.isPublished(after));
        const died = since.some(
          ({ place, after }) => after !== null && (place === 'dead' || (place === 'main' && evidence.stateOf(after) === 'dead')),
        );
        if (fates[at] === 'published' && !isOut) return [`${id} is said to be out, and is not`];
        return fates[at] === 'failedAgain' && !died ? [`${id} is said to have failed again, and has not`] : [];
      }),
    );
  });

/** An event went after the earlier one of its aggregate was out. */
export const inOrder = (evidence: RunEvidence): string[] =>
  of(evidence, (run) => {
    if (!run.followed) return [];
    const changes = changesOf(evidence, run);
    const last = new Map<string, string>();
    return run.events.flatMap(({ id, aggregate }) => {
      if (aggregate === null) return [];
      const before = last.get(aggregate);
      last.set(aggregate, id);
      const [own] = changes.get(id) ?? [];
      if (before === undefined || own === undefined) return [];
      const isOut = evidence.history.some(
        ({ event_id: of, seq, place, after }) =>
          of === before && Number(seq) < Number(own.seq) && place === 'main' && after !== null && evidence.isPublished(after),
      );
      return isOut ? [] : [`${id} was sent before ${before} of its aggregate was out`];
    });
  });

export const RUN_RULES = {
  ...TABLE_RULES,
  ...{ answersAsRecorded, refusalsHold, settledTruly, auditedOnce },
  ...{ endedAtAll, agreedTo, inOneBatch, recordedByBatch, onceByRun, sumsAdd, changedAsSaid, fatesAsHappened, inOrder },
};

/** Everything that is wrong, by rule. */
export const judgeRun = (evidence: RunEvidence): string[] =>
  Object.entries(RUN_RULES).flatMap(([rule, judge]) =>
    judge(evidence)
      .slice(0, 5)
      .map((what) => `${rule}: ${what}`),
  );
