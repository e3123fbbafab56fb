/** The servers of a lane, and a fresh copy of an outbox and of a store for each seed, behind lines that break. */
import { inject } from 'vitest';
import pg from 'pg';
import { sampleOf } from '@/fixtures/samples';
import { recordTables } from '@/lib/outbox/companions';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { Queue } from '@/lib/shared/async/queue';
import type { Actor } from '@/lib/shared/permissions';
import { insertAccount } from '@/lib/store/accounts';
import { migrateStore, openStore } from '@/lib/store/store';
import { lineTo, type Line } from '@/scripts/testing/breaking-line';
import { ENGINES, openSample, type AnyTestDatabase } from '@/scripts/testing/outbox';
import type { TestMysql } from '@/scripts/testing/mysql';
import { ownPostgres, type OwnPostgres } from '../faults/own-postgres';
import { quoted, watchHistory } from '../races/history';
import { KINDS, type Kind } from './kinds';
import type { Address } from './people';

/** An archive is called after it, so it is the same in every copy. */
const OUTBOX = 'checked';

export interface Lines {
  reader: Line;
  operator: Line;
  store: Line;
}

/** What a seed happens in. */
export interface Place {
  kind: Kind;
  database: AnyTestDatabase;
  /** Past the lines, and through them. */
  direct: Address;
  lined: Address;
  lines: Lines;
  /** Plans, and cannot approve; approves. */
  anna: Actor;
  ben: Actor;
  postgres: OwnPostgres;
  close(): Promise<void>;
}

export interface Lane {
  open(kind: Kind, name: string): Promise<Place>;
  end(): Promise<void>;
}

/** Starts the lane's own PostgreSQL and prepares what seeds are copied from; on MySQL one database is emptied instead, for one seed after the other. */
export async function openLane(number: number, mysql: TestMysql): Promise<Lane> {
  const postgres = await ownPostgres();
  const storeTemplate = `run_store_${String(number)}_${String(process.pid)}`;
  const people = await makeStore(storeTemplate);
  const templates = new Map<Kind, Promise<AnyTestDatabase>>();
  const emptied = new Queue(1);
  const make = async (kind: Kind): Promise<AnyTestDatabase> => {
    const { key, engine } = kind.contender;
    const template = engine === 'mysql' ? mysql : await postgres.createDatabase(`t_${key.replaceAll('-', '_')}`);
    await install(kind, template);
    if (engine === 'postgres') await postgres.close(template.name);
    return template;
  };
  const placed = async (kind: Kind, name: string): Promise<Place> => {
    const made = templates.get(kind) ?? make(kind);
    templates.set(kind, made);
    const template = await made;
    const { engine } = kind.contender;
    const database = engine === 'postgres' ? await postgres.createDatabase(`s_${name}`, template.name) : template;
    if (engine === 'mysql') await empty(kind, mysql);
    const store = `${storeTemplate}_${name}`;
    await onStores(`CREATE DATABASE ${store} TEMPLATE ${storeTemplate}`);
    const [reader, operator] = ['r', 'o'].map((role) => database.urlFor(`${role}_${template.name}`, 'test')) as [string, string];
    const lines = {
      reader: await lineTo(reader, null),
      operator: await lineTo(operator, null),
      store: await lineTo(storeUrl(store), null),
    };
    const direct: Address = {
      ...{ outbox: OUTBOX, shape: kind.contender.key, table: tableOf(kind), parameters: kind.contender.parameters },
      ...{ reader, operator, store: storeUrl(store) },
    };
    return {
      ...{ kind, database, direct, lines, postgres, ...people },
      lined: { ...direct, reader: lines.reader.url, operator: lines.operator.url, store: lines.store.url },
      async close() {
        for (const line of Object.values(lines)) line.close();
        await onStores(`DROP DATABASE ${store} WITH (FORCE)`);
        if (engine === 'postgres') await postgres.dropDatabase(database.name);
      },
    };
  };
  return {
    async open(kind, name) {
      const ticket = kind.contender.engine === 'mysql' ? emptied.enter(name) : null;
      await ticket?.turn;
      // Given back whatever happens: the next one would only say that it waits.
      const leave = () => ticket?.leave();
      const place = await placed(kind, name).catch((error: unknown) => {
        leave();
        throw error;
      });
      return { ...place, close: () => place.close().finally(leave) };
    },
    async end() {
      await onStores(`DROP DATABASE ${storeTemplate} WITH (FORCE)`);
      await postgres.end();
    },
  };
}

const shapeOf = ({ contender: { key } }: Kind) => {
  const shape = SHAPES.find((one) => one.key === key);
  if (shape === undefined) throw new Error(`no shape ${key}`);
  return shape;
};

const tableOf = (kind: Kind) => sampleOf(shapeOf(kind)).table?.[kind.contender.engine] ?? shapeOf(kind).table;

async function install(kind: Kind, database: AnyTestDatabase): Promise<void> {
  for (const statement of kind.contender.table.ddl) await database.query(statement);
  const opened = await openSample(database, shapeOf(kind), { id: OUTBOX, parameters: kind.contender.parameters });
  await watchHistory(database, opened.outbox).finally(() => opened.close());
}

/** As it was when it was made; whoever is still connected is sent away. */
async function empty(kind: Kind, mysql: TestMysql): Promise<void> {
  const threads = await mysql.query<{ id: string }>(
    `SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND db = database() AND user REGEXP '^[ro]_'`,
  );
  for (const { id } of threads) await mysql.query(`KILL ${id}`).catch(() => undefined);
  const { headers, events } = recordTables(ENGINES.mysql);
  const own = (await mysql.query<{ name: string }>("SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database() AND table_name LIKE '%archive_%'")).map(({ name }) => name); // prettier-ignore
  // Records are never changed, says their trigger, of which this is none.
  for (const table of [...kind.tables, quoted('mysql', events), quoted('mysql', headers), ...own, 'history'])
    await mysql.queryUnder('foreign_key_checks = 0', `TRUNCATE TABLE ${table}`);
}

async function makeStore(name: string): Promise<{ anna: Actor; ben: Actor }> {
  await onStores(`CREATE DATABASE ${name} TEMPLATE template0`);
  const migrated = await migrateStore(storeUrl(name));
  if (!migrated.ok) throw new Error(migrated.detail);
  const store = openStore(storeUrl(name));
  const account = async (email: string, role: 'operator' | 'approver'): Promise<Actor> => {
    const id = await insertAccount(store.db, { email, passwordHash: '', role });
    return { id: `account:${id ?? ''}`, name: email, role, kind: 'account' };
  };
  try {
    return { anna: await account('anna@example.com', 'operator'), ben: await account('ben@example.com', 'approver') };
  } finally {
    await store.close();
  }
}

const storeUrl = (name: string): string => Object.assign(new URL(inject('postgresUrl')), { pathname: `/${name}` }).href;

/** Stores are on the server of the whole run: the lane's own goes down now and then. */
async function onStores(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

export const KIND_LIST = { postgres: KINDS.filter(({ contender: { engine } }) => engine === 'postgres'), mysql: KINDS.filter(({ contender: { engine } }) => engine === 'mysql') }; // prettier-ignore
