/** InnoDB says when transactions began in the zone of the server's process, so each zone is a server of its own. */
import { rm } from 'node:fs/promises';
import mysql from 'mysql2/promise';
import { expect, it } from 'vitest';
import { openDatabase } from '@/lib/database/database';
import { bindOutbox } from '@/lib/outbox/bind';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { startMariadb } from '@/scripts/testing/mariadb';
import { shapeCalled } from '@/fixtures/doctor';
import { readMysqlFacts } from './facts/mysql';

it.each(['Asia/Seoul', 'America/New_York'])('the oldest transaction is as old as it is on a server in %s', async (zone) => {
  const dir = makeDataFolder('oc-zone-');
  const server = await startMariadb(dir, { zone });
  const url = new URL(server.url);
  const holder = await mysql.createConnection({ uri: url.href });
  await holder.query('CREATE DATABASE shop');
  await holder.query(`CREATE TABLE shop.outbox_events (id bigint AUTO_INCREMENT PRIMARY KEY, event_type varchar(64) NOT NULL, payload text NOT NULL,
    created_at datetime NOT NULL DEFAULT CURRENT_TIMESTAMP, processed_at datetime NULL, status varchar(16) NOT NULL DEFAULT 'PENDING')`);
  url.pathname = '/shop';
  const database = openDatabase({ id: 'test', url: url.href });
  try {
    const settings = { id: 'zone', name: 'zone', table: 'outbox_events', shape: shapeCalled('worker-status'), inline: false, parameters: {}, links: [], amount: null, mask: [] }; // prettier-ignore
    const outbox = await bindOutbox(settings, database);
    await holder.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    await holder.query('SELECT count(*) FROM shop.outbox_events');
    const began = performance.now();
    const age = async (): Promise<number> => (await readMysqlFacts(outbox, Date.now())).purge?.oldest?.ageMs ?? 0;
    await expect.poll(age).toBeGreaterThan(1_000);
    // The server keeps whole seconds of when it began.
    expect(await age()).toBeLessThan(performance.now() - began + 5_000);
  } finally {
    await holder.end();
    await database.close();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
});
