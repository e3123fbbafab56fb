/** One outbox of the fault runs: its table, watched by triggers, its relay and its service. */
import { sampleOf } from '@/fixtures/samples';
import { serviceEngineFor } from '@/demo/database/engine';
import { type OpenConnection } from '@/demo/database/service';
import type { Random } from '@/demo/random';
import type { Relay } from '@/demo/relays/relay';
import type { SinkControl } from '@/demo/sink/client';
import { isPublished, stateOf, type Contender } from '../races/contenders';
import { quoted, readHistory, watchHistory } from '../races/history';
import type { TableEvidence } from '../races/judge';
import { addEvent, makeEvent } from '../races/traffic';
import { recordTables } from '@/lib/outbox/companions';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { ENGINES, openSample, type AnyTestDatabase } from '@/scripts/testing/outbox';
import type { Recorded } from './evidence';
import { sleep } from './operators';

const PLANTED = 450;
const TRAFFIC_EVERY_MS = 20;
/** A relay that an error has switched off, as some do, is started again by who looks after it. */
const RESTART_MS = 1_500;

export interface Place {
  outbox: string;
  contender: Contender;
  database: AnyTestDatabase;
  /** For the console's configuration, where its lines are `reader` and `operator`. */
  configured: Record<string, unknown>;
  /** Takes everything away that an earlier run has left, and plants events for this one; all is quiet. */
  prepare(hand: Random): Promise<void>;
  /** Relay and service, until it is over. */
  live(hand: Random, over: () => boolean): Promise<void>;
  /** What the tables say of this run. */
  evidence(): Promise<Omit<TableEvidence, 'asked'> & { recorded: Recorded[] }>;
}

export async function makePlace(outbox: string, contender: Contender, database: AnyTestDatabase, sink: SinkControl): Promise<Place> {
  const { engine } = database;
  const shape = SHAPES.find(({ key }) => key === contender.key);
  if (shape === undefined) throw new Error(`no shape ${contender.key}`);
  const table = sampleOf(shape).table?.[engine] ?? shape.table;
  for (const statement of contender.table.ddl) await database.query(statement);
  const opened = await openSample(database, shape, { id: outbox, parameters: contender.parameters });
  const tables = [opened.outbox.main, opened.outbox.dead, opened.outbox.archive].flatMap((one) =>
    one === null ? [] : [quoted(engine, one.table)],
  );
  await watchHistory(database, opened.outbox).finally(() => opened.close());
  const { headers, events } = recordTables(ENGINES[engine]);
  const { identifier } = ENGINES[engine].quote;
  const known = new Set<string>();
  const inserted: string[] = [];

  const records = async (): Promise<Recorded[]> => {
    const found = await database.query<{ id: string; key: string; outcome: string }>(
      `SELECT id, ${identifier('key')}, outcome FROM ${quoted(engine, headers)}`,
    );
    const lines = await database.query<{ intervention_id: string; event_id: string; code: string | null }>(
      `SELECT intervention_id, event_id, code FROM ${quoted(engine, events)} ORDER BY intervention_id, ${identifier('position')}`,
    );
    const byId = new Map<string, Recorded>(found.filter(({ id }) => !known.has(id)).map((one) => [one.id, { ...one, lines: [] }]));
    for (const { intervention_id: id, event_id, code } of lines) byId.get(id)?.lines.push({ event_id, code });
    return [...byId.values()];
  };

  return {
    outbox,
    contender,
    database,
    configured: {
      id: outbox,
      database: outbox,
      table,
      shape: contender.key,
      parameters: {
        ...(contender.parameters.maxAttempts === undefined ? {} : { maxAttempts: contender.parameters.maxAttempts }),
        stuckAfter: `${String(contender.parameters.stuckAfterSeconds)}s`,
      },
    },
    async prepare(hand) {
      for (const { id } of await records()) known.add(id);
      inserted.length = 0;
      for (const name of tables) await database.query(`DELETE FROM ${name}`);
      await database.query('TRUNCATE TABLE history');
      const created = Date.now() - 60_000;
      const past = Array.from({ length: PLANTED }, (_, at) => ({
        event: makeEvent(contender, hand),
        createdAt: new Date(created + at * 10),
        state: 'dead' as const,
        endedAt: new Date(created + at * 10 + 1_000),
        attempts: contender.parameters.maxAttempts ?? 1,
        error: 'broker said no',
      }));
      const service = await serviceEngineFor(database.url).open(database.url);
      await contender.table.insertPast(service, past).finally(() => service.end());
    },
    async live(hand, over) {
      const options = { connectionString: database.url, sink, outbox: 'tested' };
      let relay: Relay = contender.start(options);
      const relaying = (async () => {
        while (!over()) {
          await sleep(contender.killEveryMs ?? RESTART_MS);
          relay.kill();
          relay = contender.start(options);
        }
        await sleep(200);
        await relay.stop();
      })();
      let service: OpenConnection | null = null;
      while (!over()) {
        try {
          service ??= await serviceEngineFor(database.url).open(database.url);
          // What was not answered may have been committed: only what was is expected to be there.
          inserted.push(await addEvent(contender, hand, service, sink));
        } catch {
          service = null;
        }
        await sleep(TRAFFIC_EVERY_MS);
      }
      await relaying;
      await service?.end();
    },
    async evidence() {
      const recorded = await records();
      return {
        inserted: [...inserted],
        history: await readHistory(database),
        recorded,
        records: recorded.flatMap(({ id, lines }) =>
          lines.map((line) => ({ ...line, intervention_id: id, operation: '', warned: false, at: new Date() })),
        ),
        isPublished,
        stateOf,
        publishedIsGone: false,
      };
    },
  };
}
