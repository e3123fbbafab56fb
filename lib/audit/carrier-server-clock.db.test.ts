import { sampleOf } from '@/fixtures/samples';
import { rm } from 'node:fs/promises';
import { sql } from 'kysely';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { applyInstall, bindForInstall } from '@/lib/interventions/install/install';
import { intervene } from '@/lib/interventions/intervene';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';
import { bindOutbox } from '@/lib/outbox/bind';
import { getEvent } from '@/lib/outbox/rows/get-event';
import type { Outbox } from '@/lib/outbox/outbox';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { useTestDatabase } from '@/scripts/testing/database';
import { startMariadb, type MariadbServer } from '@/scripts/testing/mariadb';
import { createRoles, createSample, settingsFor } from '@/scripts/testing/outbox';
import { startCarrier } from './carrier';
import { listAudit } from './list';

const PROMISE = { timeout: 10_000, interval: 100 };

const storeDatabase = useTestDatabase();
let store: Store;
beforeAll(async () => {
  expect((await migrateStore(storeDatabase.url)).ok).toBe(true);
  store = openStore(storeDatabase.url);
});
afterAll(() => store.close());

/** What an operator does while the carrier runs by itself and nobody tells it; answers how it stands in the audit. */
async function carriedBy(outbox: Outbox, event: string): Promise<{ hoursOff: number; oddities: string[] }> {
  const carrier = startCarrier({ directory: depsFor(outbox).directory, store, onError: (_database, error) => expect(error).toBeNull() });
  try {
    await carrier.carryAll();
    const version = (await getEvent(outbox, event))?.event.version ?? '';
    const request = { operation: 'archive', events: [{ id: event, version }], reason: 'a clock jumped' };
    const { interventionId, outcome } = await intervene(depsFor(outbox), ANNA, outbox.id, request, freshKey());
    expect(outcome).toBe('applied');
    const found = async () =>
      (await listAudit(store, { event }, { limit: 200 })).entries.find((entry) => entry.interventionId === interventionId);
    await expect.poll(found, PROMISE).toBeDefined();
    const entry = await found();
    return { hoursOff: Math.round((Date.parse(entry?.at ?? '') - Date.now()) / 3_600_000), oddities: entry?.oddities ?? [] };
  } finally {
    await carrier.stop();
  }
}

/** How far the database's own now is away from ours. */
async function hoursOff({ read, engine }: Database): Promise<number> {
  const { now, instantText } = engine.fragments;
  const told = await read(async (db) => (await sql<{ at: string }>`select ${instantText(now())} as at`.execute(db)).rows[0]?.at ?? '');
  return Math.round((Date.parse(told) - Date.now()) / 3_600_000);
}

const settings = settingsFor(workerStatus);
const MOVED = [
  ['ahead', 5, '1'],
  ['back', -5, '2'],
] as const;

describe('the clock of a PostgreSQL moved', () => {
  const observed = useTestDatabase((made) => createSample(made, workerStatus));
  let roles: Awaited<ReturnType<typeof createRoles>>;
  const open = (): Database => openDatabase({ id: 'test', url: roles.reader, operatorUrl: roles.operator });
  beforeAll(async () => {
    roles = await createRoles(observed);
    const before = open();
    await applyInstall(await bindForInstall(settings, before, observed.url), observed.url).finally(() => before.close());
    await observed.query('CREATE SCHEMA moved');
    await observed.query('GRANT USAGE ON SCHEMA moved TO public');
    await observed.query('CREATE FUNCTION moved.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT pg_catalog.now() $$');
    // What the server takes for now: for the times it puts into records, and for whoever asks it.
    await observed.query('ALTER TABLE outbox_console.intervention ALTER at SET DEFAULT moved.now()');
    await observed.query(`ALTER DATABASE ${observed.name} SET search_path = moved, pg_catalog, public`);
  });

  it.each(MOVED)('hours %s: what is done then is in the audit, marked', async (_way, hours, event) => {
    await observed.query(
      `CREATE OR REPLACE FUNCTION moved.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT pg_catalog.now() + interval '${String(hours)} hours' $$`,
    );
    const database = open();
    try {
      expect(await hoursOff(database)).toBe(hours);
      expect(await carriedBy(await bindOutbox(settings, database), event)).toEqual({ hoursOff: hours, oddities: ['time_off'] });
    } finally {
      await database.close();
    }
  });
});

describe('the clock of a MySQL or MariaDB moved', () => {
  const folder = makeDataFolder('oc-clock-');
  let server: MariadbServer;
  let admin: mysql.Connection;
  const urlOf = (user: string): string => {
    const url = new URL(server.url);
    [url.username, url.password, url.pathname] = [user, 'test', '/shop'];
    return url.href;
  };
  const open = (): Database => openDatabase({ id: 'shop', url: urlOf('reader'), operatorUrl: urlOf('operator') });
  beforeAll(async () => {
    server = await startMariadb(folder);
    admin = await mysql.createConnection({ uri: server.url });
    for (const statement of ['CREATE DATABASE shop CHARACTER SET utf8mb4', 'USE shop', ...(sampleOf(workerStatus).ddl.mysql ?? [])])
      await admin.query(statement);
    for (const { values } of sampleOf(workerStatus).rows) await admin.query('INSERT INTO outbox_events SET ?', [values]);
    for (const [user, rights] of Object.entries({ reader: 'shop.*', operator: 'shop.*', owner: '*.*' })) {
      await admin.query(`CREATE USER ${user} IDENTIFIED BY 'test'`);
      await admin.query(`GRANT ALL ON ${rights} TO ${user} WITH GRANT OPTION`);
    }
    const before = open();
    await applyInstall(await bindForInstall(settings, before, urlOf('owner')), urlOf('owner')).finally(() => before.close());
  });
  afterAll(async () => {
    await admin.end();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(MOVED)('hours %s: what is done then is in the audit, marked', async (_way, hours, event) => {
    // Of every session but an administrator's, from its beginning.
    await admin.query(`SET GLOBAL init_connect = 'SET timestamp = unix_timestamp(sysdate()) + ${String(hours * 3_600)}'`);
    const database = open();
    try {
      expect(await hoursOff(database)).toBe(hours);
      expect(await carriedBy(await bindOutbox(settings, database), event)).toEqual({ hoursOff: hours, oddities: ['time_off'] });
    } finally {
      await database.close();
    }
  });
});
