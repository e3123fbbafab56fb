/**
 * Every shape of an engine, raced from its samples: a library made of them, a service, and operators, all at once; then judged from
 * the records and from what the triggers saw. Most of these libraries are not here to run: what is proven is the console's side.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceEngineFor } from '@/demo/database/engine';
import { createRandom } from '@/demo/random';
import { depsFor } from '@/fixtures/interventions';
import { sampleOf } from '@/fixtures/samples';
import type { Outbox } from '@/lib/outbox/outbox';
import { SHAPES } from '@/lib/shape/catalog.gen';
import type { EngineKey } from '@/lib/shared/model';
import { coverOf, rulesOf } from '@/scripts/testing/covers';
import { createSample, openSample, proven, useTestDatabaseOf, type AnyTestDatabase, type ProvenOutbox } from '@/scripts/testing/outbox';
import { CLAIM_RULES, type Claims } from '../claims';
import { readHistory, readRecords, watchHistory } from '../history';
import { type Image } from '../witness';
import { TABLE_RULES } from '../judge';
import { relay, service, type Party } from './library';
import { offered, openOffice, operator, type Office } from './operators';
import { createStage, type Stage } from './stage';
import { addNotes } from './tables';

/** The least that has to have happened to a shape for its race to mean anything. */
const REQUESTS = 30;
const APPLIED_PER_OPERATION = 8;
const SEEN_TOO_LATE = 6;
const CORRECTED = 6;
/** Ends a race that hangs. */
const DEADLINE_MS = 600_000;
const OPERATORS = 3;
const RELAYS = 2;

/** Defines the races of all shapes that name the engine. */
export function raceShapes(engine: EngineKey): void {
  describe.each(SHAPES.filter((shape) => shape.engines.includes(engine)).map((shape) => [shape.key, shape] as const))(
    '%s',
    (key, shape) => {
      const database = useTestDatabaseOf(engine, async (db) => {
        await createSample(db, shape, { rows: false });
        await addNotes(db, shape);
      });
      let open: ProvenOutbox;
      beforeAll(async () => {
        const first = await openSample(database, shape, { parameters: sampleOf(shape).parameters ?? {} });
        await watchHistory(database, first.outbox);
        // The tables have triggers since, and are proven as they are now.
        open = await proven({ ...first, outbox: await first.rebind() });
      });
      afterAll(() => open.close());

      it(`${key} is changed by operators exactly as they saw it and as the records say, while its rows move`, async () => {
        const stage = await createStage(database, shape, open.outbox);
        const editor = await serviceEngineFor(database.url).open(database.url);
        const correct = async (id: string): Promise<boolean> => {
          const row = (await stage.rows(editor)).find((one) => one.id === id);
          return row !== undefined && stage.amend(editor, row);
        };
        const office = openOffice(open.outbox, database, depsFor(open.outbox, open.known), correct);
        await race(stage, office, database.url, key).finally(() => editor.end());
        const claims = await evidence(stage, office, database);
        for (const [rule, judge] of Object.entries({ ...TABLE_RULES, ...CLAIM_RULES }))
          expect.soft(judge(claims).slice(0, 5), rule).toEqual([]);
        const operations = [...offered(open.outbox).keys()];
        for (const operation of operations)
          expect.soft(office.applied[operation] ?? 0, `${operation} applied`).toBeGreaterThanOrEqual(APPLIED_PER_OPERATION);
        if (operations.length > 0) {
          expect.soft(office.skipped.changed_since_seen ?? 0, 'seen too late').toBeGreaterThanOrEqual(SEEN_TOO_LATE);
          expect.soft(office.corrected, 'corrected before the click').toBeGreaterThanOrEqual(CORRECTED);
        } else expect.soft(claims.history.filter(({ ours }) => ours)).toEqual([]);
        console.log(
          `race of ${key} on ${engine}: ${office.requests.length} requests, ${JSON.stringify(office.applied)}, refused ${JSON.stringify(office.skipped)}, busy ${office.busy}, ${claims.history.length} writes`,
        );
      });
    },
  );
}

/** Runs everybody together until every operation has had its share. */
async function race(stage: Stage, office: Office, url: string, key: string): Promise<void> {
  const random = createRandom(`race ${key}`);
  const deadline = Date.now() + DEADLINE_MS;
  const wanted = [...offered(office.outbox).keys()];
  let broken = false;
  const over = (): boolean =>
    broken ||
    Date.now() > deadline ||
    (office.requests.length >= REQUESTS &&
      wanted.every((operation) => (office.applied[operation] ?? 0) >= APPLIED_PER_OPERATION) &&
      (wanted.length === 0 || ((office.skipped.changed_since_seen ?? 0) >= SEEN_TOO_LATE && office.corrected >= CORRECTED)));
  const connected = async (party: Party, name: string): Promise<void> => {
    const connection = await serviceEngineFor(url).open(url);
    await party(connection, random.fork(name)).finally(() => connection.end());
  };
  const all = [
    connected(service(stage, over), 'service'),
    ...Array.from({ length: RELAYS }, (_, number) => connected(relay(stage, over), `relay ${number}`)),
    ...Array.from({ length: OPERATORS }, (_, number) => operator(office, random.fork(`operator ${number}`), number, over)),
  ];
  // Whoever breaks ends the race for the others, so that nothing outlives the test.
  const ends = await Promise.allSettled(all.map((one) => one.catch((error: unknown) => { broken = true; throw error; }))); // prettier-ignore
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function evidence(stage: Stage, office: Office, database: AnyTestDatabase): Promise<Claims> {
  const history = await readHistory(database);
  const { createdAt, payload } = stage.outbox.main.roles;
  return {
    inserted: [...new Set(history.filter(({ op, ours }) => op === 'INSERT' && !ours).map((change) => change.event_id))],
    history,
    records: (await readRecords(database)).map((record) => ({ ...record, warned: false })),
    requests: office.requests,
    isPublished: (image) => stage.stateOf(image) === 'published',
    publishedIsGone: stage.publishedIsGone,
    asked: office.requests.flatMap(({ events, answers: [answer] }) =>
      events.map(({ id: event, version }) => ({ intervention: answer?.interventionId ?? '', event, version })),
    ),
    exactly: database.engine === 'postgres' ? 'that write' : 'those values',
    stable: [
      ...stage.outbox.main.id.map(({ name }) => name),
      ...[createdAt, payload].flatMap((bound) => (bound === undefined || bound.join !== null ? [] : [bound.column.name])),
    ],
    stateOf: stage.stateOf,
    covers: (operation, place, state) => coverOf(stage.outbox, operation, place, state),
    tooYoung: (operation, row, at) => isTooYoung(stage.outbox, operation, row, at),
  };
}

/** A time that is not known is not old. */
function isTooYoung({ shape, parameters }: Outbox, operation: string, row: Image, at: Date): boolean {
  const columns = new Set(rulesOf(shape, operation).flatMap((rule) => rule.olderThanStuckAfter ?? []));
  return [...columns].some((name) => {
    const time = row[name] ?? null;
    return time === null || at.getTime() - timeOf(time) < parameters.stuckAfterSeconds * 1_000;
  });
}

/** Milliseconds since the epoch of a time as either server prints it, without a zone in UTC. */
function timeOf(text: string): number {
  return /^\d{13}$/.test(text) ? Number(text) : Date.parse(`${text.replace(' ', 'T').replace(/([+-]\d{2}|Z)$/, '')}Z`);
}
