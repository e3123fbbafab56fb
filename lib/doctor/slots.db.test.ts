/** What the doctor says of the replication slots behind a table that a connector reads from the log. */
import { sampleOf } from '@/fixtures/samples';
import { rm } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '@/lib/database/database';
import { startEmbeddedPostgres } from '@/lib/store/embedded/embedded-postgres';
import type { Examination, Finding } from '@/lib/shared/doctor';
import { settingsFor } from '@/scripts/testing/outbox';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import type { SnapshotHolder } from './facts/facts';
import { readCatalogueHolders, readHolders } from './facts/postgres';
import { examineTable, shapeCalled } from '@/fixtures/doctor';

const SHAPE = shapeCalled('debezium-outbox');

/** The server of the other tests writes no log that could be read. */
const SETTINGS = {
  wal_level: 'logical',
  fsync: 'off',
  max_replication_slots: '4',
  max_wal_senders: '4',
  min_wal_size: '32MB',
  max_wal_size: '32MB',
};

describe('replication slots', () => {
  let dir: string;
  let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
  let owner: pg.Client;
  let reader: Database;
  beforeAll(async () => {
    dir = makeDataFolder('outbox-console-slots-');
    server = await startEmbeddedPostgres({ dir, settings: SETTINGS });
    const url = server.superuserUrl('postgres');
    owner = new pg.Client({ connectionString: url });
    await owner.connect();
    for (const statement of sampleOf(SHAPE).ddl.postgres ?? []) await owner.query(statement);
    await owner.query(
      `CREATE ROLE watcher LOGIN PASSWORD 'test'; GRANT SELECT ON outboxevent TO watcher; CREATE PUBLICATION out FOR TABLE outboxevent`,
    );
    reader = openDatabase({ id: 'test', url: Object.assign(new URL(url), { username: 'watcher', password: 'test' }).href });
  });
  afterAll(async () => {
    await reader.close();
    await owner.end();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const examined = (slot?: string): Promise<Examination> =>
    examineTable(reader, settingsFor(SHAPE, { parameters: slot === undefined ? {} : { extra: { slot } } }));
  const slotFindings = async (slot?: string): Promise<Finding[]> =>
    (await examined(slot)).findings.filter(({ check }) => check.startsWith('slot_'));
  const write = async (rows: number): Promise<unknown> =>
    owner.query(
      `INSERT INTO outboxevent (id, aggregatetype, aggregateid, type, payload) SELECT gen_random_uuid(), 'order', i::text, 'made', jsonb_build_object('n', repeat('x', 1000)) FROM generate_series(1, ${rows}) AS i`,
    );
  /** A connector that reads the slot, until it is ended. */
  async function connect(slot: string): Promise<pg.Client> {
    const connector = new pg.Client({ connectionString: server.superuserUrl('postgres'), replication: 'database' } as pg.ClientConfig);
    connector.on('error', () => undefined);
    await connector.connect();
    connector.query(`START_REPLICATION SLOT ${slot} LOGICAL 0/0 (proto_version '1', publication_names 'out')`).catch(() => undefined);
    await expect
      .poll(async () => (await owner.query('SELECT active FROM pg_replication_slots WHERE slot_name = $1', [slot])).rows)
      .toEqual([{ active: true }]);
    return connector;
  }

  it('is said where there is none, and where the one that is named is not there', async () => {
    expect(await slotFindings()).toMatchObject([{ check: 'slot_missing', severity: 'act', values: { slot: null } }]);
    await owner.query(`SELECT pg_create_logical_replication_slot('debezium', 'pgoutput')`);
    expect(await slotFindings('orders')).toMatchObject([{ check: 'slot_missing', values: { slot: 'orders' } }]);
  });

  it('nothing is said while somebody reads it, and who is gone is told with how much waits', async () => {
    const connector = await connect('debezium');
    expect(await slotFindings()).toEqual([]);
    await connector.end();
    // The server notices a moment later, and tells since when only then.
    await expect.poll(async () => (await owner.query('SELECT active FROM pg_replication_slots')).rows).toEqual([{ active: false }]);
    await write(50);
    const gone = async (): Promise<Finding[]> => slotFindings('debezium');
    const knows = (
      await owner.query<{ since: string | null }>(`SELECT to_jsonb(s) ->> 'inactive_since' AS since FROM pg_replication_slots s`)
    ).rows[0]?.since;
    // A server that tells since when gives a connector a minute to come back.
    if (knows != null) expect(await gone()).toEqual([]);
    else expect(await gone()).toMatchObject([{ check: 'slot_inactive', severity: 'act', subject: 'debezium' }]);
  });

  it('says that it may not look, and how to let it, instead of saying that all is well', async () => {
    await owner.query('REVOKE SELECT ON pg_catalog.pg_replication_slots FROM PUBLIC');
    const { findings, unseen } = await examined();
    expect(findings.filter(({ check }) => check.startsWith('slot_'))).toEqual([]);
    const told = unseen.find(({ code }) => code === 'slots');
    await owner.query(told?.cure ?? '');
    expect((await examined()).unseen.map(({ code }) => code)).not.toContain('slots');
    await owner.query('GRANT SELECT ON pg_catalog.pg_replication_slots TO PUBLIC');
  });

  it('what a slot keeps of the catalogue is counted in transactions, and a little of it is no finding', async () => {
    await owner.query(
      `CREATE PROCEDURE burn(n int) LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..n LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$`,
    );
    await owner.query('CALL burn(2000)');
    const [held, ...others] = await reader.read((db) => readCatalogueHolders(db, reader.engine.quote));
    expect([held?.slot, held?.database, held?.active, others]).toEqual(['debezium', 'postgres', false, []]);
    expect(held?.transactions).toBeGreaterThanOrEqual(2_000);
    expect((await examined()).findings.map(({ check }) => check)).not.toContain('slot_catalogue');
  });

  it('a slot whose log the server took away is lost, with the statement that drops it', async () => {
    await owner.query(`ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'`);
    await owner.query('SELECT pg_reload_conf()');
    await expect
      .poll(async () => {
        await write(2_000);
        await owner.query('SELECT pg_switch_wal()');
        await owner.query('CHECKPOINT');
        return (await slotFindings()).map(({ check }) => check);
      })
      .toEqual(['slot_lost']);
    const [lost] = await slotFindings();
    expect(lost).toMatchObject({ severity: 'act', subject: 'debezium' });
    expect(await reader.read((db) => readCatalogueHolders(db, reader.engine.quote))).toEqual([]);
    await owner.query(lost?.cure ?? '');
    expect(await slotFindings()).toMatchObject([{ check: 'slot_missing' }]);
  });

  it.each([
    ['by itself', ''],
    ['behind a slot', 'SLOT of_standby '],
  ])('old_snapshot: what a query on a standby keeps, told %s, is ended by nothing that can be printed', async (_, slot) => {
    if (slot !== '') await owner.query(`SELECT pg_create_physical_replication_slot('of_standby', true)`);
    const url = new URL(server.superuserUrl('postgres'));
    url.searchParams.set('application_name', 'standby_1');
    const standby = new pg.Client({ connectionString: url.href, replication: 'true' } as pg.ClientConfig);
    standby.on('error', () => undefined);
    await standby.connect();
    const [at] = (await owner.query<{ lsn: string; xmin: string }>('SELECT pg_current_wal_flush_lsn() AS lsn, txid_current() AS xmin'))
      .rows;
    standby.query(`START_REPLICATION ${slot}PHYSICAL ${at?.lsn ?? ''}`).catch(() => undefined);
    const { connection } = standby as unknown as { connection: { sendCopyFromChunk(chunk: Buffer): void } };
    /** What a standby with hot_standby_feedback tells: the oldest transaction that its queries need. */
    const feedback = Buffer.alloc(25);
    feedback.write('h');
    feedback.writeUInt32BE(Number(at?.xmin), 9);
    const seeing = openDatabase({ id: 'test', url: server.superuserUrl('postgres') });
    const holders = (): Promise<SnapshotHolder[]> => seeing.read((db) => readHolders(db, seeing.engine.quote, true));
    await expect
      .poll(async () => (connection.sendCopyFromChunk(feedback), await holders()))
      .toMatchObject([{ kind: 'standby', who: slot === '' ? 'standby_1' : 'of_standby', end: null }]);
    await standby.end();
    await seeing.close();
  });
});
