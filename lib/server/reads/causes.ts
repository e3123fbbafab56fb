import 'server-only';
import { CauseTally, fingerprintOf, mergedCause } from '@/lib/outbox/lists/causes';
import { causeWalk, DEAD_SCANNED_MAX, newestDead, sampleRows } from '@/lib/outbox/lists/dead-letters';
import { hiddenFields } from '@/lib/outbox/masking/hidden-fields';
import type { Outbox } from '@/lib/outbox/outbox';
import { outboxInfo } from '@/lib/outbox/outbox-info';
import { within } from '@/lib/shared/async/within';
import { byCount, type CauseNote, type CauseSample, type DeadLetterGroup, type CountedRows } from '@/lib/shared/dead-letter-groups';
import { perObject } from '@/lib/shared/kept';
import { causeText, errorTemplate } from '@/lib/shared/lists/cause';
import { MASK } from '@/lib/shared/lists/shown';
import type { Cause } from '@/lib/shared/model';
import { Problem } from '@/lib/shared/problems';
import { recordDeed } from '@/lib/store/audit';
import { type KeptCause, insertCause, putCauseNote, readCauses } from '@/lib/store/causes';
import { lastMarkAt } from '@/lib/store/marks';
import type { Context } from '../context';
import type { CauseNoteRequest } from '../schemas';
import { orNothing } from './doctor';
import { onOutbox } from './outboxes';
import { readTried } from './runs';
import { seesAll, shownCauses } from './shown';
import { together } from './together';

export interface Causes {
  /** When they were read, by the console's clock; ISO 8601 UTC. */
  asOf: string;
  /** Largest first, and how many smaller ones there are. */
  groups: DeadLetterGroup[];
  more: number;
  /** Of retrying events alone: none of theirs is dead. */
  retrying: DeadLetterGroup[];
  /** Dead events of causes that are not kept. */
  others: number;
  searched: CountedRows;
}

interface Kept {
  causes: Causes;
  /** How many were dead then, as the caller knew. */
  dead: number | null;
}

const GROUPS_MAX = 200;

/** By whether the reader sees all. Not per binding: that is another one every half minute. */
const keptOf = perObject<Outbox['settings'], Map<boolean, Kept>>(() => new Map());

/** Causes of dead events as this actor may see them: kept for `keptMs` while as many are dead, otherwise read, once for all who ask. */
export async function causesOf(context: Context, outbox: Outbox, dead: number | null, keptMs: number): Promise<Causes> {
  const all = seesAll(context);
  const kept = keptOf(outbox.settings);
  const recent = (): Causes | null => {
    const last = kept.get(all);
    const willDo = last !== undefined && (dead === null || last.dead === dead) && Date.now() - Date.parse(last.causes.asOf) < keptMs;
    return willDo ? last.causes : null;
  };
  const known = recent();
  if (known !== null) return known;
  return together(outbox, ['causes', all, keptMs > 0], async () => {
    // Read meanwhile: whom what is kept will do, it was read for as well.
    const meanwhile = recent();
    if (meanwhile !== null) return meanwhile;
    const causes = await readNow(context, outbox);
    kept.set(all, { causes, dead });
    return causes;
  });
}

/** Causes that are one for who asks. */
type Alike = [KeptCause, ...KeptCause[]];

/** From the newest dead events where these are all; of more, as the collector counted them last. */
async function readNow(context: Context, outbox: Outbox): Promise<Causes> {
  const asOf = new Date().toISOString();
  const all = seesAll(context);
  const { db } = context.console.store;
  const [{ round, acted, causes }, deployAt] = await orNothing(context.console, NOTHING, () =>
    Promise.all([readCauses(db, outbox.id), lastMarkAt(db, 'deploy', outbox.id)]),
  );
  const { state } = context.console.collector.status(outbox.id);
  const counted = round !== null && round.rows > DEAD_SCANNED_MAX && state !== 'blind' && state !== 'waiting';
  const rows = counted ? [] : await newestDead(outbox, !all);
  const groupsOf = (parts: Alike[]) => parts.map((alike) => groupOf(outbox, alike, deployAt)).sort(byCount);
  if (counted) {
    const dead = causes.filter(({ count, retrying }) => count > 0 || retrying > 0);
    // Operators, or the relay, have moved some since.
    const moved = round.movedAt !== null || (acted !== null && acted > round.beganAt);
    const told = dead.map((cause) => (moved && cause.known === 'exact' ? { ...cause, known: 'estimated' as const } : cause));
    const groups = groupsOf(await asSeen(context, outbox, told));
    const { beganAt, endedAt } = round;
    const searched = { rows: round.rows, complete: round.known !== 'sampled', round: { beganAt, endedAt } };
    return { asOf, ...parted(groups), others: round.others, searched };
  }
  const complete = rows.length < DEAD_SCANNED_MAX;
  const known: KeptCause['known'] = complete ? 'exact' : causeWalk(outbox, 'dead')?.parts === null ? 'sampled' : 'capped';
  const shown = new CauseTally();
  const seen = await shownCauses(context, outbox, rows);
  const ids = shown.add(seen);
  const own = all ? ids : new CauseTally().add(rows);
  const before = new Map(causes.map((cause) => [cause.id, cause]));
  const ofShown = new Map<string, Set<string>>();
  for (const [index, id] of ids.entries()) ofShown.set(id, (ofShown.get(id) ?? new Set()).add(own[index] ?? ''));
  const groups = shown.causes().map((cause): Alike => {
    // What was seen before would tell a reader with masks which events share an error.
    const kept = all ? [...(ofShown.get(cause.id) ?? [])].flatMap((id) => before.get(id) ?? []) : [];
    // Of what was kept before only what this reading cannot tell.
    const past = kept.map((one) => ({ ...one, count: 0, samples: [], sums: [], summed: 0, known }));
    return [{ ...cause, known, retrying: 0, note: null }, ...past];
  });
  const dying = new Set(own);
  const others = causes.filter(({ id, retrying }) => retrying > 0 && !dying.has(id)).map((one) => ({ ...one, count: 0 }));
  return {
    asOf,
    ...parted([...groupsOf(groups), ...groupsOf(await asSeen(context, outbox, others))]),
    others: 0,
    searched: { rows: rows.length, complete },
  };
}

const NOTHING: [Awaited<ReturnType<typeof readCauses>>, string | null] = [{ round: null, acted: null, causes: [] }, null];

function parted(groups: DeadLetterGroup[]): Pick<Causes, 'groups' | 'more' | 'retrying'> {
  const dead = groups.filter(({ count }) => count > 0);
  const retrying = groups.filter(({ count, retrying: of }) => count === 0 && of > 0);
  return { groups: dead.slice(0, GROUPS_MAX), more: Math.max(0, dead.length - GROUPS_MAX), retrying };
}

/** Kept causes, those together that this actor cannot tell apart: by what is seen of a sample's error, read again as it is now. */
async function asSeen(context: Context, outbox: Outbox, causes: readonly KeptCause[]): Promise<Alike[]> {
  if (seesAll(context) || causes.length === 0) return causes.map((cause) => [cause]);
  const hidden = hiddenFields(outbox.settings);
  const rows = await sampleRows(outbox, [...new Set(causes.flatMap(({ samples }) => samples))]);
  const seen = await shownCauses(context, outbox, rows);
  const seenOf = new Map(rows.map((row, index) => [`${fingerprintOf(row)} ${row.id}`, seen[index]]));
  const alike = new Map<string, Alike>();
  for (const cause of causes) {
    const { error } = cause;
    const sample = cause.samples.flatMap((id) => seenOf.get(`${cause.id} ${id}`) ?? [])[0];
    // Of an event that has gone, nobody can say what its error would hide.
    const shown: Cause = sample ?? { type: hidden.has('type') ? null : cause.type, error: error === null ? null : MASK };
    const id = fingerprintOf(shown);
    const others = alike.get(id);
    const differ = error === null || error === errorTemplate(error) || others !== undefined;
    const sums = hidden.has('amount') ? [] : cause.sums.map((sum) => (hidden.has('currency') ? { ...sum, currency: null } : sum));
    const part: KeptCause = {
      ...{ ...cause, id, type: shown.type, sums, summed: hidden.has('amount') ? 0 : cause.summed },
      // Kept over rounds, by the error that is masked here, which a note may quote.
      ...{ firstSeenAt: null, lastSeenAt: null, note: null },
      error: shown.error === null ? null : differ ? errorTemplate(shown.error) : causeText(shown.error),
    };
    alike.set(id, [part, ...(others ?? [])]);
  }
  return [...alike.values()];
}

/** From what is best known to what is least. */
const KNOWN = ['exact', 'estimated', 'capped', 'sampled'] as const;

function groupOf(outbox: Outbox, alike: Alike, deployAt: string | null): DeadLetterGroup {
  const [first, ...others] = alike;
  const { id, type, error, count, firstSeenAt, lastSeenAt, seen, samples, sums, summed } = mergedCause(first, others);
  const known = KNOWN[Math.max(...alike.map((one) => KNOWN.indexOf(one.known)))] ?? 'capped';
  const [note = null] = alike.flatMap((one) => one.note ?? []).sort((a, b) => b.at.localeCompare(a.at));
  return {
    ...{ outbox: outbox.settings.id, id, type, error, count, firstSeenAt, lastSeenAt, seen, samples, sums, summed, known, note },
    retrying: alike.reduce((sum, one) => sum + one.retrying, 0),
    newSince: deployAt !== null && firstSeenAt !== null && firstSeenAt > deployAt ? deployAt : null,
  };
}

/** Meanwhile many events may have died. */
const STANDS_MS = 300_000;

/** The same as far as it is known within `waitMs`, at once from up to five minutes before; null while nothing is, or where it cannot be read. */
export async function knownCauses(context: Context, outboxId: string, keptMs: number, waitMs: number): Promise<Causes | null> {
  const outbox = await within(context.console.directory.last(outboxId), waitMs).catch(() => null);
  if (outbox === null) return null;
  const newest = causesOf(context, outbox, null, keptMs).catch(() => null);
  const kept = keptOf(outbox.settings).get(seesAll(context))?.causes ?? null;
  const before = kept !== null && Date.now() - Date.parse(kept.asOf) < STANDS_MS ? kept : null;
  return (await within(newest, before === null ? waitMs : 0)) ?? before;
}

/** The causes of an outbox for scripts. Throws Problem `not_found`, `timeout`, `unavailable`. */
export const readGroups = (context: Context, outboxId: string) =>
  onOutbox(context, outboxId, async (outbox) => {
    const { groups, retrying, searched, ...causes } = await causesOf(context, outbox, null, 0);
    const by = outboxInfo(outbox).capabilities.fields.error ? 'error' : 'type';
    return { ...causes, by, groups: groups.map(groupAnswer), retrying: retrying.map(groupAnswer), searched };
  });

function groupAnswer({ outbox: _, id, error, sums, samples, ...group }: DeadLetterGroup) {
  return {
    ...{ id, template: error === null ? null : errorTemplate(error), ...group },
    sampleEventId: samples[0] ?? null,
    samples,
    sums: Object.fromEntries(sums.map(({ amount, currency }) => [currency ?? '', amount])),
  };
}

/** Samples of a cause with their errors, as they are now and this actor may see them; those that have gone are left out. */
export const readSamples = (context: Context, outboxId: string, ids: readonly string[]): Promise<CauseSample[]> =>
  onOutbox(context, outboxId, async (outbox) => {
    return (await shownCauses(context, outbox, await sampleRows(outbox, ids))).map(({ id, error }) => ({ id, error }));
  });

/** A cause that is looked at: its samples, and what runs of its plans did; null while the store does not answer. */
export async function readCause(context: Context, { outbox, cause, events }: { outbox: string; cause: string; events: readonly string[] }) {
  const tried = orNothing(context.console, null, () => readTried(context, outbox, cause));
  return { samples: await readSamples(context, outbox, events), tried: await tried };
}

/** Writes a note on a cause, with an audit entry; an empty one takes it off. Throws Problem `not_found`, and as its outbox's lists do. */
export async function noteCause(context: Context, asked: CauseNoteRequest): Promise<{ note: CauseNote | null }> {
  const { console, actor } = context;
  const { outbox, cause: fingerprint, note } = asked;
  console.directory.settings(outbox);
  const enter = (seen?: DeadLetterGroup) =>
    console.store.db.transaction().execute(async (db) => {
      if (seen !== undefined) await insertCause(db, outbox, seen);
      const written = await putCauseNote(db, { outbox, fingerprint, note, actor });
      if (written === null) return null;
      const told = (text: string | null) => ({ cause: fingerprint, note: text });
      const deed = { operation: 'cause_note', outbox, reason: note || (written.before ?? '') };
      await recordDeed(db, actor, { ...deed, before: told(written.before), after: told(written.note?.text ?? null) });
      return { note: written.note };
    });
  const entered = await enter();
  if (entered !== null) return entered;
  // On the screen before the collector has counted it.
  const seen = await onOutbox(context, outbox, async (bound) => (await causesOf(context, bound, null, 0)).groups);
  const group = seen.find(({ id }) => id === fingerprint);
  const late = group === undefined ? null : await enter(group);
  if (late === null) throw new Problem('not_found', 'There is no such cause here: look at the list of causes again');
  return late;
}
