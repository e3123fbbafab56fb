/** Every operation of every shape of record against the live relay of its shape, judged from what really happened. */
import { capabilitiesOf } from '@/lib/outbox/capabilities';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceEngineFor } from '@/demo/database/engine';
import type { Random } from '@/demo/random';
import { createSinkClient, type SinkControl } from '@/demo/sink/client';
import { startSink, type Sink } from '@/demo/sink/server';
import { intervene } from '@/lib/interventions/intervene';
import { previewIntervention } from '@/lib/interventions/preview';
import { ANNA, BEN, depsFor } from '@/fixtures/interventions';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { SHAPES } from '@/lib/shape/catalog.gen';
import type { VersionedEvent } from '@/lib/shared/model';
import { openSample, useTestDatabaseOf, type OpenOutbox } from '@/scripts/testing/outbox';
import { CONTENDERS, isPublished, raceRandom, stateOf, type Contender } from './contenders';
import { readHistory, readRecords, watchHistory } from './history';
import { RULES, type Asked, type Evidence } from './judge';
import { addEvent } from './traffic';

/** Per shape and operation it offers, and over all: the least that has to have happened for this to mean anything. */
const APPLIED_PER_OPERATION = 50;
const REQUESTS_PER_SHAPE = 450;
const REQUESTS = 2_000;
const APPLIED = 800;
const OPERATORS = 3;
const EVENTS_ALIVE = 250;
/** Ends a race that hangs: each lasts until every operation has had its share. */
const DEADLINE_MS = 600_000;

const totals = { requests: 0, applied: 0 };
const perShape: Record<string, Record<string, number>> = {};

describe.each(CONTENDERS.map((contender) => [contender.key, contender.engine, contender] as const))(
  '%s on %s',
  (key, engine, contender) => {
    const shape = SHAPES.find((candidate) => candidate.key === key);
    if (shape === undefined) throw new Error(`no shape ${key}`);
    const database = useTestDatabaseOf(engine, async ({ query }) => {
      for (const statement of contender.table.ddl) await query(statement);
    });
    let open: OpenOutbox;
    let server: Sink;
    let sink: SinkControl;
    beforeAll(async () => {
      server = await startSink();
      sink = createSinkClient({ url: server.url, timeoutMs: 2_000 });
      open = await openSample(database, shape, { parameters: contender.parameters });
      await watchHistory(database, open.outbox);
      // The tables have triggers since: what was bound before them refuses every change.
      open = { ...open, outbox: await open.rebind() };
    });
    afterAll(async () => {
      await open.close();
      sink.close();
      await server.close();
    });

    it('holds against its live relay', async () => {
      const inserted: string[] = [];
      const { applied, warned, asked } = await race(contender, open, database.url, sink, inserted);
      perShape[`${key} on ${engine}`] = applied;
      for (const operation of Object.keys(contender.operations))
        expect(applied[operation] ?? 0, `${operation} applied`).toBeGreaterThanOrEqual(APPLIED_PER_OPERATION);

      const records = await readRecords(database);
      const evidence: Evidence = {
        inserted,
        history: await readHistory(database),
        deliveries: await sink.deliveries('tested'),
        records: records.map((record) => ({ ...record, warned: warned.has(record.intervention_id) })),
        isPublished,
        publishedIsGone: false,
        stateOf,
        asked,
        // Only the courier sends again with nobody's doing: one failure rolls a whole batch back.
        namedFault: key === 'courier-status' ? 'batch rolled back' : 'none',
      };
      for (const [rule, judge] of Object.entries(RULES)) expect.soft(judge(evidence), rule).toEqual([]);
    });
  },
);

it('was a race worth the name', () => {
  console.log(`race: ${totals.requests} requests, ${totals.applied} events changed; ${JSON.stringify(perShape)}`);
  expect(totals.requests).toBeGreaterThanOrEqual(REQUESTS);
  expect(totals.applied).toBeGreaterThanOrEqual(APPLIED);
});

/** Runs relay, service and operators together until every operation has had its share. */
async function race(contender: Contender, open: OpenOutbox, url: string, sink: SinkControl, inserted: string[]) {
  const random = raceRandom(contender.key);
  const applied: Record<string, number> = {};
  const warned = new Set<string>();
  const asked: Asked[] = [];
  const deadline = Date.now() + DEADLINE_MS;
  let requests = 0;
  const enough = (): boolean =>
    Date.now() > deadline ||
    (requests >= REQUESTS_PER_SHAPE &&
      Object.keys(contender.operations).every((operation) => (applied[operation] ?? 0) >= APPLIED_PER_OPERATION));
  const options = { connectionString: url, sink, outbox: 'tested' };

  let relay = contender.start(options);
  const killing = (async () => {
    while (contender.killEveryMs !== undefined && !enough()) {
      await sleep(contender.killEveryMs);
      relay.kill();
      relay = contender.start(options);
    }
  })();
  const service = await serviceEngineFor(url).open(url);
  const traffic = (async () => {
    while (!enough()) {
      if (inserted.length - Object.values(applied).reduce((sum, n) => sum + n, 0) / 2 < EVENTS_ALIVE)
        inserted.push(await addEvent(contender, random, service, sink));
      await sleep(8);
    }
  })();
  const operators = Array.from({ length: OPERATORS }, (_, index) =>
    (async () => {
      const hand = random.fork(`operator ${index}`);
      const remembered: VersionedEvent[] = [];
      while (!enough()) {
        const result = await act(contender, open, hand, applied, remembered, index % 2 === 0);
        if (result === null) continue;
        requests += 1;
        asked.push(...result.asked.map(({ id, version }) => ({ intervention: result.interventionId, event: id, version })));
        for (const _ of result.changed) applied[result.operation] = (applied[result.operation] ?? 0) + 1;
        if (result.warned) warned.add(result.interventionId);
        totals.requests += 1;
        totals.applied += result.changed.length;
      }
    })(),
  );
  await Promise.all([...operators, traffic, killing]);
  // Let what is in flight land before anybody judges.
  await relay.stop();
  await service.end();
  return { applied, warned, asked };
}

/** One request of an operator: fresh or remembered rows, one to five of them; null when there was nothing to choose. */
async function act(
  contender: Contender,
  open: OpenOutbox,
  hand: Random,
  applied: Record<string, number>,
  remembered: VersionedEvent[],
  anna: boolean,
) {
  const neediest = Object.keys(contender.operations).sort((a, b) => (applied[a] ?? 0) - (applied[b] ?? 0));
  const operation = hand.chance(0.7) ? (neediest[0] ?? 'archive') : hand.pick(neediest as [string, ...string[]]);
  const states = contender.operations[operation] ?? [];
  const state = hand.chance(0.75) ? states[0] : states[hand.int(0, states.length - 1)];
  if (state === undefined) return null;
  const { events } = await listEvents(open.outbox, { state: [state], order: hand.chance(0.5) ? 'oldest' : 'newest' }, { limit: 60 });
  if (events.length === 0) {
    await sleep(5);
    return null;
  }
  const start = hand.int(0, events.length - 1);
  const chosen = events.slice(start, start + hand.int(1, 5));
  // A third of the hands are slow: what they act on was seen a while ago.
  const stale = hand.chance(0.3) ? remembered.splice(0, 2) : [];
  remembered.push(...chosen.slice(0, 1));
  const unique = [...new Map([...stale, ...chosen].map((event) => [event.id, event])).values()];
  const body = { operation, events: unique.map(({ id, version }) => ({ id, version })) };
  const preview = await previewIntervention(open.outbox, body);
  const result = await intervene(depsFor(open.outbox), anna ? ANNA : BEN, 'sample', { ...body, reason: 'race' }, randomUUID());
  expect(result.changed.length + result.skipped.length).toBe(unique.length);
  const offered = capabilitiesOf(open.outbox).operations[operation];
  const warnings = offered?.offered === true ? offered.warnings : [];
  return { ...result, asked: body.events, warned: [...preview.warnings, ...warnings].includes('may_already_be_out') };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
