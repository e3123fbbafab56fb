/** A server whose binary log holds statements writes in no transaction that reads what is committed. */
import { sampleOf } from '@/fixtures/samples';
import { rm } from 'node:fs/promises';
import mysql from 'mysql2/promise';
import { expect, it } from 'vitest';
import { openDatabase } from '@/lib/database/database';
import { bindOutbox } from '@/lib/outbox/bind';
import { listEvents } from '@/lib/outbox/lists/list-events';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { startMariadb } from '@/scripts/testing/mariadb';
import { settingsFor } from '@/scripts/testing/outbox';
import { applyInstall, bindForInstall } from './install/install';
import { intervene } from './intervene';
import { ANNA, depsFor, freshKey } from '@/fixtures/interventions';

it('reading goes on and changes are refused with the reason, found before or in the middle', async () => {
  const folder = makeDataFolder('oc-statements-');
  const server = await startMariadb(folder, { settings: ['--log-bin=changes', '--server-id=1', '--binlog-format=ROW'] });
  const admin = await mysql.createConnection({ uri: server.url });
  const url = new URL(server.url);
  url.pathname = '/shop';
  const settings = settingsFor(workerStatus);
  const first = openDatabase({ id: 'test', url: url.href, operatorUrl: url.href });
  const second = openDatabase({ id: 'test', url: url.href, operatorUrl: url.href });
  try {
    await admin.query('SET GLOBAL log_bin_trust_function_creators = 1');
    for (const statement of ['CREATE DATABASE shop CHARACTER SET utf8mb4', 'USE shop', ...(sampleOf(workerStatus).ddl.mysql ?? [])])
      await admin.query(statement);
    await admin.query("INSERT INTO outbox_events (id, event_type, payload, status) VALUES (1, 't', '{}', 'PENDING')");
    await applyInstall(await bindForInstall(settings, first, url.href), url.href);
    const outbox = await bindOutbox(settings, first);
    expect(outbox.whyReadOnly).toBeNull();
    const { events } = await listEvents(outbox, {}, { limit: 10 });
    const request = { operation: 'archive', events: events.map(({ id, version }) => ({ id, version: version ?? '' })), reason: 'old' };

    await admin.query("SET GLOBAL binlog_format = 'STATEMENT'");
    const bound = await bindOutbox(settings, second);
    expect(bound).toMatchObject({ whyReadOnly: 'statement_binlog' });
    expect((await listEvents(bound, {}, { limit: 10 })).events).toHaveLength(1);
    const refused = { code: 'read_only', because: 'statement_binlog' };
    await expect(intervene(depsFor(bound), ANNA, 'sample', request, freshKey())).rejects.toMatchObject(refused);
    // Bound before, and connected since: the server says so itself.
    const unaware = { ...outbox, database: second };
    await expect(intervene(depsFor(unaware), ANNA, 'sample', request, freshKey())).rejects.toMatchObject(refused);

    await admin.query("SET GLOBAL binlog_format = 'MIXED'");
    expect((await bindOutbox(settings, first)).whyReadOnly).toBeNull();
  } finally {
    await Promise.all([first.close(), second.close(), admin.end()]);
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
