/** Everything a fault run happens in: two observed servers and a store behind lines that break, a console of its own, relays. */
import { createSinkClient, type SinkControl } from '@/demo/sink/client';
import { startSink } from '@/demo/sink/server';
import { CONTENDERS } from '../races/contenders';
import { createToken } from '@/lib/identity/tokens';
import { migrateStore, openStore } from '@/lib/store/store';
import { lineTo, type Line } from '@/scripts/testing/breaking-line';
import type { TestDatabase } from '@/scripts/testing/database';
import type { TestMysql } from '@/scripts/testing/mysql';
import { consoleProgram, type ConsoleProgram } from './console-program';
import { apiOf, type Api } from './operators';
import { ownPostgres, type OwnPostgres } from './own-postgres';
import { makePlace, type Place } from './place';

/** The lines of the console to one server. */
export interface Lines {
  reader: Line;
  operator: Line;
}

export interface World {
  console: ConsoleProgram;
  api: Api;
  postgres: OwnPostgres;
  storeLine: Line;
  places: { place: Place; lines: Lines }[];
  close(): Promise<void>;
}

export async function makeWorld(store: TestDatabase, mysql: TestMysql): Promise<World> {
  const migrated = await migrateStore(store.url);
  if (!migrated.ok) throw new Error(migrated.detail);
  const opened = openStore(store.url);
  const token = await createToken(opened, { name: 'operator of the runs', role: 'operator' }).finally(() => opened.close());

  const sinkServer = await startSink();
  const sink: SinkControl = createSinkClient({ url: sinkServer.url, timeoutMs: 2_000 });
  const postgres = await ownPostgres();
  const contender = (key: string, engine: string) => {
    const found = CONTENDERS.find((one) => one.key === key && one.engine === engine);
    if (found === undefined) throw new Error(`no contender ${key}`);
    return found;
  };
  const places = [
    await makePlace('escrow', contender('escrow-status', 'postgres'), await postgres.createDatabase('escrow'), sink),
    await makePlace('orders', contender('published-at', 'postgres'), await postgres.createDatabase('orders'), sink),
    await makePlace('worker', contender('worker-status', 'mysql'), mysql, sink),
  ];
  const linesTo = async (url: string): Promise<Lines> => ({ reader: await lineTo(url, null), operator: await lineTo(url, null) });
  const lines = await Promise.all(places.map(({ database }) => linesTo(database.url)));
  const storeLine = await lineTo(store.url, null);
  const through = (url: string, line: Line | undefined): string =>
    Object.assign(new URL(url), { port: new URL(line?.url ?? '').port }).href;
  const program = await consoleProgram({
    store: storeLine.url,
    databases: Object.fromEntries(
      places.map(({ outbox, database }, at) => [
        outbox,
        {
          url: through(database.urlFor(`r_${database.name}`, 'test'), lines[at]?.reader),
          operatorUrl: through(database.urlFor(`o_${database.name}`, 'test'), lines[at]?.operator),
        },
      ]),
    ),
    outboxes: places.map(({ configured }) => configured),
  });
  await program.start();
  return {
    console: program,
    api: apiOf(program.url, token),
    postgres,
    storeLine,
    places: places.flatMap((place, at) => {
      const own = lines[at];
      return own === undefined ? [] : [{ place, lines: own }];
    }),
    async close() {
      await program.close();
      for (const line of [...lines.flatMap(({ reader, operator }) => [reader, operator]), storeLine]) line.close();
      sink.close();
      await sinkServer.close();
      await postgres.end();
    },
  };
}
