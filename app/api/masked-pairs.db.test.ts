/**
 * Masked means unfindable: a viewer is asked to tell two tables apart that differ in masked values of equal length alone,
 * through every route and every reading behind a page. `MASKED_PAIRS=500` tries more of them.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { getConsole } from '@/lib/server/console';
import type { Context } from '@/lib/server/context';
import { readCard } from '@/lib/server/embedding/cards';
import { readCause } from '@/lib/server/reads/causes';
import { readAllDeadLetters, readDeadLetters } from '@/lib/server/reads/dead-letters';
import { examineNow, readDoctor, readHeadlines } from '@/lib/server/reads/doctor';
import { readEventDetail } from '@/lib/server/reads/event';
import { readFleet, readOutbox as readFigures, readTypeTrends } from '@/lib/server/reads/figures';
import { filtersHidden, visibleFilter } from '@/lib/server/reads/shown';
import { isChangeable, readOutboxInfo } from '@/lib/server/reads/outboxes';
import { readProof } from '@/lib/server/reads/changes';
import type { RouteHandler } from '@/lib/server/route';
import { contextOf, useTestConsole } from '@/scripts/testing/console';
import type { FateCard } from '@/lib/shared/embedding/cards';
import { parseEventFilter } from '@/lib/shared/lists/event-filter';
import type { EventDetail, EventPage } from '@/lib/shared/model';
import { can } from '@/lib/shared/permissions';
import { Problem } from '@/lib/shared/problems';
import { insertAuditEntries } from '@/lib/store/audit';
import { useTestDatabase } from '@/scripts/testing/database';
import { declaredEntries } from '@/scripts/testing/declared-entries';
import { changePairTable, createPairTable, pairOutbox, pairs, pairsWanted, type Pair, type PairRow } from '@/scripts/testing/masked-pairs';
import { cards } from '@/scripts/testing/pair-cards';
import { hasCountedRetries } from '@/scripts/testing/pair-retries';
import { PLAN_READINGS, planQuestions, writePlan } from '@/scripts/testing/pair-plans';
import { useTestMysql } from '@/scripts/testing/mysql';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { answersOf, apart, comparable, ofOutbox, type Door } from '@/scripts/testing/told-of-pairs';

const APP = path.resolve(import.meta.dirname, '..');
const AT_ONCE = 5;
const DOORS_AT_ONCE = 6;
const SEED = 20_261_122;

const store = useTestDatabase();
const databases = { p: useTestDatabase(), m: useTestMysql(undefined, { own: true }) };
type Engine = keyof typeof databases;

interface Case {
  pair: Pair;
  engine: Engine;
  /** The ids of its two outboxes, of one length. */
  ids: [string, string];
}

const found = fc.sample(pairs, { numRuns: pairsWanted(), seed: SEED });
const cases = found.map((pair, index): Case => {
  const id = `pair-${String(index).padStart(4, '0')}`;
  return { pair, engine: index % 2 === 0 ? 'p' : 'm', ids: [`${id}-a`, `${id}-b`] };
});
const batches = Array.from({ length: Math.ceil(cases.length / AT_ONCE) }, (_, index) =>
  cases.slice(index * AT_ONCE, (index + 1) * AT_ONCE),
);
const tableOf = (id: string): string => id.replaceAll('-', '_');

const configuration = (batch: readonly Case[]): string => {
  const outboxes = batch.flatMap(({ pair, engine, ids }) => ids.map((id) => pairOutbox(id, engine, tableOf(id), pair)));
  return `databases: {p: {url: '${databases.p.url}'}, m: {url: '${databases.m.url}'}}\noutboxes: ${JSON.stringify(outboxes)}\n`;
};
const console = useTestConsole(
  () => store.url,
  () => configuration([]),
);

/** Every handler of every route file there is. */
async function handlers(): Promise<Map<string, RouteHandler>> {
  const files = readdirSync(path.join(APP, 'api'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => path.basename(file) === 'route.ts',
  );
  const all = new Map<string, RouteHandler>();
  for (const file of files) {
    const exported = (await import(path.join(APP, 'api', file))) as Record<string, RouteHandler>;
    for (const [method, handler] of Object.entries(exported)) all.set(`${method} ${path.dirname(file)}`, handler);
  }
  return all;
}

interface Question {
  handler: string;
  path?: string;
  params?: Record<string, string>;
  body?: unknown;
}

const query = (values: Record<string, string>): string => `?${new URLSearchParams(values).toString()}`;

/** Everything a viewer can ask of one of the outboxes, knowing the values of both tables. */
function questions(id: string, { rows }: Pair): Question[] {
  const params = { outbox: id };
  const events = (values: Record<string, string>): Question => ({
    handler: 'GET v1/outboxes/[outbox]/events',
    params,
    path: `/e${query(values)}`,
  });
  const [first, second] = rows as [PairRow, PairRow];
  const guesses = [...new Set([...Object.values(first.values[0]), ...Object.values(second.values[1])])];
  const kinds = new Set(rows.flatMap(({ values: [a, b] }) => [a['payload.kind'], b['payload.kind']]));
  const errors = new Set(rows.flatMap(({ errors: [a, b] }) => [a, b]).filter((error) => error !== null));
  const fields = ['type', 'aggregate', 'q', 'cause'];
  return [
    events({}),
    events({ limit: '1' }),
    events({ order: 'oldest', limit: '2' }),
    ...['pending', 'retrying', 'published', 'dead', 'archived'].map((state) => events({ state })),
    events({ from: '2026-01-01T00:00:01Z', to: '2026-01-01T00:00:04Z' }),
    ...guesses.flatMap((guess, index) => [0, 1].map((more) => events({ [fields[(index + more) % fields.length] ?? 'q']: guess }))),
    events({ error: guesses[0] ?? '' }),
    ...[...errors].flatMap((error) => [events({ cause: error.slice(0, 500), limit: '1' })]),
    ...['sold', 'paid', ...kinds].map((type) => events({ type, state: 'dead' })),
    events({ q: '1' }),
    ...rows.map((row) => ({ handler: 'GET v1/outboxes/[outbox]/events/[event]', params: { ...params, event: String(row.id) } })),
    { handler: 'GET v1/outboxes/[outbox]/events/[event]', params: { ...params, event: guesses[0] ?? '' } },
    ...['15m', '30d'].map((window) => ({ handler: 'GET v1/outboxes/[outbox]/summary', params, path: `/s?window=${window}` })),
    ...['json', 'csv'].map((format) => ({ handler: 'GET v1/outboxes/[outbox]/series', params, path: `/s?window=24h&format=${format}` })),
    ...['sold', ...kinds].map((type) => ({
      handler: 'GET v1/outboxes/[outbox]/series',
      params,
      path: `/s${query({ window: '1h', type })}`,
    })),
    { handler: 'GET v1/outboxes/[outbox]/proof', params },
    { handler: 'GET v1/outboxes/[outbox]/groups', params },
    ...['json', 'markdown', 'csv'].map((format) => ({ handler: 'GET v1/doctor', path: `/d${query({ outbox: id, format })}` })),
    { handler: 'POST v1/doctor/examinations', body: { outbox: id } },
    { handler: 'GET v1/marks', path: `/m${query({ outbox: id })}` },
    { handler: 'GET v1/audit', path: `/a${query({ outbox: id })}` },
    ...planQuestions(id),
    { handler: 'GET v1/audit', path: `/a${query({ outbox: id, event: '1', limit: '1' })}` },
    { handler: 'GET v1/interventions/[intervention]', params: { intervention: '00000000-0000-7000-8000-000000000000' } },
    {
      handler: 'GET v1/interventions/[intervention]/fates',
      params: { intervention: '00000000-0000-7000-8000-000000000000' },
      path: `/f${query(params)}`,
    },
    { handler: 'GET [[...unknown]]' },
  ];
}

/** What is masked row by row, and remembered by their versions. Figures on screens may be from just before a change. */
const ASKED_AGAIN = /"path":"\/e\?(?:state=dead)?"|^page\.dead-letters$/;

/** Asked once of all outboxes: what is told of the one and of the other is compared. */
const OF_ALL = ['GET v1/outboxes', 'GET v1/fleet', 'GET metrics'];
const BY_READING = ['GET v1/find'];

async function answered(all: Map<string, RouteHandler>, { handler, ...asked }: Question): Promise<{ status: number; text: string }> {
  const route = all.get(handler);
  if (route === undefined) throw new Error(`there is no ${handler}`);
  const [method = ''] = handler.split(' ');
  const answer = await console.callAs('viewer', route, { method, ...asked });
  return { status: answer.status, text: await answer.text() };
}

/** The answer of one question, and of its further pages. */
async function pages(all: Map<string, RouteHandler>, question: Question): Promise<string[]> {
  const told: string[] = [];
  for (let path = question.path; told.length < 10;) {
    const { status, text } = await answered(all, { ...question, path });
    told.push(`${status} ${text}`);
    const cursor = status === 200 && question.handler.endsWith('/events') ? (JSON.parse(text) as EventPage).nextCursor : null;
    if (cursor === null || path === undefined) break;
    path = `${(question.path ?? '').replace(/&cursor=.*/, '')}${question.path?.includes('?') === true && !question.path.endsWith('?') ? '&' : ''}cursor=${cursor}`;
  }
  return told;
}

type Reading = (context: Context, id: string, pair: Pair) => Promise<unknown> | unknown;
const everyRow =
  (read: (context: Context, id: string, event: string) => Promise<unknown>): Reading =>
  (context, id, { rows }) =>
    Promise.all(rows.map((row) => read(context, id, String(row.id))));
const hiddenOf = (rows: PairRow[]) => rows.flatMap(({ values: [a, b] }) => [...Object.values(a), ...Object.values(b)]);
const one = async <T>(list: Promise<T[]>, idOf: (entry: T) => string, id: string): Promise<T[]> =>
  (await list).filter((entry) => idOf(entry) === id);

const deadLetters: Reading = async (context, id, pair) => {
  const guess = hiddenOf(pair.rows).slice(0, 12);
  const requests = [{}, { error: guess[0] }, ...guess.map((cause) => ({ cause })), ...guess.map((type) => ({ type: [type] }))];
  const read = requests.map((request) => settled(readDeadLetters(context, id, { order: 'newest', limit: 3, ...request })));
  return [
    await Promise.all(read),
    await one(readAllDeadLetters(context, { order: 'oldest', limit: 2 }), ({ outbox }) => outbox.id, id),
    filtersHidden(context, [id]),
    guess.map((q) => visibleFilter(context, [id], parseEventFilter(new URLSearchParams({ q, error: q, type: q })))),
  ];
};
const outboxScreen: Reading = async (context, id, { rows }) => [
  await readFigures(context, id, '1h', { span: { window: '1h' } }),
  await readTypeTrends(context, id, '1h', ['sold', ...new Set(hiddenOf(rows))].slice(0, 5)),
];
const fleet: Reading = async (context, id) => {
  const { entries, doctor } = await readFleet(context);
  return [entries.filter(({ outbox }) => outbox.id === id), doctor[id], (await readHeadlines(context))[id]];
};
const eventScreen = everyRow(readEventDetail);
const doctorScreen: Reading = (context, id) => readDoctor(context, id);
const BY_ROUTE: Reading = () => 'asked by route';
const NOTHING_OF_EVENTS: Reading = (context, id) => isChangeable(context.console, id);

const foundKeys: Reading = async (context, id, { rows }) => {
  const all = [];
  for (const key of [...rows.map((row) => String(row.id)), ...hiddenOf(rows).slice(0, 3)]) {
    // A few keys a second are looked for.
    const ask = async () => {
      const answer = (await readCard(context, { view: 'fate', key, outboxes: [id] })) as FateCard;
      if (answer.outboxes.some(({ why }) => why === 'not_answered' || why === 'searching')) throw new Error(`${id} has not answered`);
      return answer;
    };
    const { fate, outboxes } = await vi.waitFor(ask, { timeout: PATIENCE_MS, interval: 250 });
    all.push(fate, outboxes);
  }
  return all;
};

/** What each page, action and card that a viewer may see reads; one that is not here fails the test. */
const READINGS: Record<string, Reading> = {
  'layout.console': NOTHING_OF_EVENTS,
  'page.fleet': fleet,
  'fleet.snapshot': fleet,
  'page.outbox': outboxScreen,
  'outbox.snapshot': outboxScreen,
  'outbox.type-trends': outboxScreen,
  'api.embed': cards,
  'page.events': (context, id) => readOutboxInfo(context.console, id),
  'events.snapshot': BY_ROUTE,
  'page.event': eventScreen,
  'event.snapshot': eventScreen,
  'page.dead-letters': deadLetters,
  'page.outbox-dead-letters': deadLetters,
  'dead-letters.snapshot': deadLetters,
  'page.audit': BY_ROUTE,
  'audit.snapshot': BY_ROUTE,
  'causes.snapshot': everyRow((context, id, event) => readCause(context, { outbox: id, cause: '', events: [event] })),
  ...PLAN_READINGS,
  'page.doctor': doctorScreen,
  'doctor.snapshot': doctorScreen,
  'doctor.examine': (context, id) => examineNow(context, id),
  'page.outbox-settings': (context, id) => readProof(context, id),
  'find.snapshot': foundKeys,
  'page.find': foundKeys,
};

const nameOf = (read: Reading): string => Object.keys(READINGS).find((id) => READINGS[id] === read) ?? '';

async function settled(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) return { problem: error.code, detail: error.detail, fields: error.fields };
    throw error;
  }
}

async function writeAudit({ pair, ids }: Case): Promise<void> {
  const { store: own } = await getConsole();
  for (const [side, outbox] of ids.entries())
    await insertAuditEntries(
      own.db,
      pair.rows.map(({ id, values, errors }, index) => {
        const of = values[side === 0 ? 0 : 1];
        return {
          id: `0190000${side}-0000-7000-8000-${outbox.slice(5, 9)}0000${String(index).padStart(4, '0')}`,
          at: `2026-01-01T00:00:0${index}.000Z`,
          actorId: 'account:1',
          actor: 'somebody',
          role: 'operator',
          operation: 'retry',
          outbox,
          eventId: String(id),
          eventType: pair.inside ? of['payload.kind'] : 'sold',
          aggregateId: pair.inside ? of['payload.order.id'] : null,
          reason: 'again',
          outcome: 'applied' as const,
          code: null,
          interventionId: null,
          before: { state: 'dead', error: errors[side] ?? null },
          after: { state: 'new', error: null },
        };
      }),
    );
}

/** Everything that one of the two outboxes of a pair is asked, in one order for both. */
function doors(all: Map<string, RouteHandler>, context: Context, { pair, ids }: Case, side: 0 | 1): Door[] {
  const id = ids[side];
  const door = (name: string, ask: () => unknown): Door => ({
    name,
    ask: async () => {
      const answer = await settled(Promise.resolve(ask()));
      return Array.isArray(answer) && answer.every((page) => typeof page === 'string') ? answer : [JSON.stringify(answer)];
    },
  });
  return [
    ...questions(id, pair).map((question) => door(JSON.stringify(question), () => pages(all, question))),
    ...[...new Set(Object.values(READINGS))].map((read) => door(nameOf(read), () => read(context, id, pair))),
    ...OF_ALL.map((handler) => door(handler, async () => [ofOutbox((await answered(all, { handler })).text, id)])),
  ];
}

/** Asks the same of both, several at once. Answers what they were told differently: one such answer is a leak. */
async function toldApart(pairsOfDoors: [Door, Door][], one: Case, begun: number): Promise<string[]> {
  const found: string[] = [];
  for (let from = 0; from < pairsOfDoors.length; from += DOORS_AT_ONCE)
    await Promise.all(
      pairsOfDoors.slice(from, from + DOORS_AT_ONCE).map(async (both) => {
        const told = await answersOf(both);
        const [a = '', b = ''] = told.map((texts, side) => texts.map((text) => comparable(text, one.ids[side] ?? '', begun)).join('\n'));
        if (a !== b) found.push(`${one.engine} ${both[0].name}\n${apart(a, b)}\n${JSON.stringify(one.pair)}`);
      }),
    );
  return found;
}

/** Until collector and doctor know every outbox, its past, and why its events are tried again: before that there is less to be told. */
async function watched(context: Context, batch: readonly Case[]): Promise<void> {
  const ids = batch.flatMap((one) => one.ids);
  for (const id of ids) await examineNow(context, id);
  const isSampled = async (id: string): Promise<boolean> => {
    const { summary, series } = await readFigures(context, id, '1h', { span: { window: '1h' } });
    return summary.backfill === null && series.points.some(({ waiting, dead }) => waiting !== null && dead !== null);
  };
  await vi.waitFor(
    async () => {
      const ready = await Promise.all(ids.map(async (id) => (await isSampled(id)) && (await hasCountedRetries(id))));
      if (ready.includes(false)) throw new Error(`not watched yet: ${ids.filter((_, index) => !ready[index]).join()}`);
    },
    { timeout: PATIENCE_MS / 2, interval: 500 },
  );
}

/** Whom nothing is masked to sees the tables differ, wherever they do: who is told them alike is told something of them. */
async function seenByOperators({ pair, ids }: Case): Promise<void> {
  const context = await contextOf('operator');
  for (const row of pair.rows) {
    const [left, right] = ids.map((id): Door => ({
      name: id,
      ask: async () => [JSON.stringify(await readEventDetail(context, id, String(row.id)))],
    }));
    const told = await answersOf([left as Door, right as Door]);
    const [a, b] = told.map(([detail = '']) => JSON.parse(detail) as EventDetail) as [EventDetail, EventDetail];
    expect(a.payload?.text === b.payload?.text && a.headers?.text === b.headers?.text, JSON.stringify(row)).toBe(
      JSON.stringify(row.values[0]) === JSON.stringify(row.values[1]),
    );
    expect(a.event.error === b.event.error).toBe(row.errors[0] === row.errors[1]);
  }
}

describe('every door a viewer has', () => {
  it('is asked', async () => {
    const asked = new Set([...OF_ALL, ...BY_READING, ...questions('x', found[0] as Pair).map(({ handler }) => handler)]);
    const open = [...(await handlers())].filter(([, { entry }]) => entry.permission !== undefined && can('viewer', entry.permission));
    expect(open.map(([name]) => name).filter((name) => !asked.has(name) && !name.includes('[...unknown]'))).toEqual([]);
    const seen = declaredEntries(APP).filter(({ permission }) => can('viewer', permission));
    expect(seen.map(({ id }) => id).filter((id) => !(id in READINGS))).toEqual([]);
    expect(seen.length).toBeGreaterThan(15);
  });
});

describe.each(batches.map((batch, index) => [index, batch] as const))('pairs, part %i', (_, batch) => {
  it(
    'are told alike',
    async () => {
      for (const { pair, engine, ids } of batch)
        for (const side of [0, 1] as const) await createPairTable(databases[engine], tableOf(ids[side]), pair, side);
      const begun = Date.now();
      await console.restart(configuration(batch));
      const all = await handlers();
      const context = await contextOf('viewer');
      for (const one of batch) await Promise.all([writeAudit(one), ...one.ids.map(writePlan)]);
      await watched(context, batch);
      const compare = async (one: Case, of: (door: Door) => boolean): Promise<string[]> => {
        const right = doors(all, context, one, 1);
        const both = doors(all, context, one, 0).map((door, index): [Door, Door] => [door, right[index] ?? door]);
        const asked = both.filter(([door]) => of(door));
        return toldApart(asked, one, begun);
      };
      // Each to its end: what is left over would ask the next part's console.
      const compareAll = async (of: (door: Door) => boolean): Promise<string[]> =>
        (await Promise.allSettled(batch.map((one) => compare(one, of)))).flatMap((ended) =>
          ended.status === 'fulfilled' ? ended.value : [String(ended.reason)],
        );
      expect(await compareAll(() => true)).toEqual([]);
      // The first answers after a change, of what is kept from one answer to the next.
      for (const { engine, ids } of batch) for (const id of ids) await changePairTable(databases[engine], tableOf(id));
      expect(await compareAll(({ name }) => ASKED_AGAIN.test(name))).toEqual([]);
      for (const one of batch) await seenByOperators(one);
    },
    PATIENCE_MS,
  );
});
