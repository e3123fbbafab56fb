/** The console's side of a race on a shape's samples: operators who act on what they see, and on what they saw a while ago. */
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import { randomUUID } from 'node:crypto';
import type { Random } from '@/demo/random';
import { intervene, type InterventionDeps } from '@/lib/interventions/intervene';
import { OPERATIONS } from '@/lib/interventions/operations';
import { ANNA, BEN } from '@/fixtures/interventions';
import { listEvents } from '@/lib/outbox/lists/list-events';
import type { Outbox } from '@/lib/outbox/outbox';
import { Problem } from '@/lib/shared/problems';
import { STATES, type State } from '@/lib/shared/states';
import type { AnyTestDatabase } from '@/scripts/testing/outbox';
import type { Request, SeenEvent } from '../claims';
import { sleep } from './library';

/** What a database says when it is too busy: then nothing was done, and nothing is recorded. */
const BUSY = ['timeout', 'unavailable', 'in_progress'];
const REMEMBERED_MAX = 60;

/** What the operators of one race share: what was seen by any of them may be acted on by another. */
export interface Office {
  outbox: Outbox;
  database: AnyTestDatabase;
  deps: InterventionDeps;
  requests: Request[];
  /** By operation, how many events it has changed. */
  applied: Record<string, number>;
  /** By skip code. */
  skipped: Record<string, number>;
  busy: number;
  remembered: SeenEvent[];
  /** Gives an event another content, its state left as it is; false when it is gone or has none. Not the console's doing. */
  correct(id: string): Promise<boolean>;
  /** How many events were corrected between an operator's look and the click. */
  corrected: number;
}

export function openOffice(outbox: Outbox, database: AnyTestDatabase, deps: InterventionDeps, correct: Office['correct']): Office {
  return { outbox, database, deps, requests: [], applied: {}, skipped: {}, busy: 0, remembered: [], correct, corrected: 0 };
}

/** The operations this table offers, with the states each is for. */
export function offered(outbox: Outbox): Map<string, State[]> {
  return new Map(
    Object.entries(capabilitiesOf(outbox).operations).flatMap(([key, capability]) => (capability.offered ? [[key, capability.from]] : [])),
  );
}

/** Works until it is over; `number` tells the operators apart. */
export async function operator(office: Office, random: Random, number: number, over: () => boolean): Promise<void> {
  while (!over()) {
    const { operation, state } = choose(office, random);
    const fresh = await see(office, state);
    const chosen = fresh.length === 0 ? [] : from(random, fresh, random.int(1, 4));
    // As often something that was seen before, by anybody: the same version may be used twice.
    const fitting = office.remembered.filter((event) => state === null || event.state === state);
    const stale = random.chance(0.6) ? from(random, fitting, 3) : [];
    office.remembered.push(...from(random, fresh, 2));
    office.remembered.splice(0, office.remembered.length - REMEMBERED_MAX);
    const events = [...new Map([...chosen, ...stale].map((event) => [event.id, event])).values()];
    if (events.length === 0) {
      await sleep(3);
      continue;
    }
    const [first] = events;
    if (first !== undefined && random.chance(0.25) && (await office.correct(first.id))) office.corrected += 1;
    await ask(office, random, number, operation, events);
  }
}

async function ask(office: Office, random: Random, number: number, operation: string, events: SeenEvent[]): Promise<void> {
  const actor = number % 2 === 0 ? ANNA : BEN;
  const body = { operation, events: events.map(({ id, version }) => ({ id, version })), reason: 'race' };
  const key = randomUUID();
  const send = () => intervene(office.deps, actor, office.outbox.id, body, key);
  const request: Request = { operation, events, answers: [] };
  office.requests.push(request);
  try {
    // A double click, and somebody who asks again because the answer was lost on the way.
    const answers = random.chance(0.2) ? await Promise.all([send(), send()]) : [await send()];
    request.answers.push(...answers);
    const [answer] = answers;
    office.applied[operation] = (office.applied[operation] ?? 0) + (answer?.changed.length ?? 0);
    for (const { code } of answer?.skipped ?? []) office.skipped[code] = (office.skipped[code] ?? 0) + 1;
    if (random.chance(0.1)) request.answers.push(await send());
  } catch (error) {
    if (!(error instanceof Problem && BUSY.includes(error.code))) throw error;
    office.busy += 1;
  }
}

/** Mostly what has been done least, on rows it is for; at times something else, on any. */
function choose({ outbox, applied }: Office, random: Random): { operation: string; state: State | null } {
  const known = offered(outbox);
  const keys = [...known.keys()].sort((a, b) => (applied[a] ?? 0) - (applied[b] ?? 0));
  const [least] = keys;
  if (least === undefined || random.chance(0.15)) {
    const any = OPERATIONS[random.int(0, OPERATIONS.length - 1)]?.key ?? 'archive';
    return { operation: any, state: random.chance(0.3) ? null : (STATES[random.int(0, STATES.length - 1)] ?? null) };
  }
  const operation = random.chance(0.6) ? least : (keys[random.int(0, keys.length - 1)] ?? least);
  const states = known.get(operation) ?? [];
  return { operation, state: states[random.int(0, states.length - 1)] ?? null };
}

/** Events with what they were when they were listed; those that were being written meanwhile are left out. */
async function see({ outbox, database }: Office, state: State | null): Promise<SeenEvent[]> {
  if (state !== null && !capabilitiesOf(outbox).states[state].available) return [];
  const before = await lastWrites(database);
  const { events } = await listEvents(outbox, state === null ? {} : { state: [state] }, { limit: 60 });
  const after = await lastWrites(database);
  return events.flatMap(({ id, version, state: shown }) => {
    const seq = before.get(id);
    return seq === undefined || seq !== after.get(id) ? [] : [{ id, version, state: shown, seq }];
  });
}

async function lastWrites(database: AnyTestDatabase): Promise<Map<string, string>> {
  const rows = await database.query<{ event_id: string; seq: string }>('SELECT event_id, max(seq) AS seq FROM history GROUP BY event_id');
  return new Map(rows.map(({ event_id: id, seq }) => [id, seq]));
}

/** So many of them, from anywhere in the list. */
function from<T>(random: Random, all: T[], count: number): T[] {
  if (all.length === 0) return [];
  const start = random.int(0, all.length - 1);
  return all.slice(start, start + count);
}
