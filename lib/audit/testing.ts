/** What tests of the carrier share: records with any id and any time, and the audit of a store. */
import { sql } from 'kysely';
import { openDatabase } from '@/lib/database/database';
import { numbersTo } from '@/scripts/testing/mysql';
import type { Db, Engine } from '@/lib/database/engine';
import { eventTableOf, headersOf, named } from '@/lib/interventions/records';
import type { AuditEntry } from '@/lib/shared/model';
import type { Store } from '@/lib/store/store';
import type { TestDatabase } from '@/scripts/testing/database';
import { ENGINES, type AnyTestDatabase } from '@/scripts/testing/outbox';
import { listAudit } from './list';

/** A UUID of version 7 made at this time. */
export function idMadeAt(ms: number, serial = 0): string {
  const hex = Math.floor(ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${serial.toString(16).padStart(12, '0')}`;
}

export interface Planted {
  id: string;
  outbox?: string;
  /** As the database spells times, UTC; the server's own now when left out. */
  at?: string;
  lines?: number;
  /** Left open, as a record is inside its own transaction. */
  open?: boolean;
}

/** Writes records as somebody who may do everything there, in one transaction. */
export async function plantRecords(database: AnyTestDatabase, records: readonly Planted[]): Promise<void> {
  const owner = openDatabase({ id: 'owner', url: database.url, operatorUrl: database.url });
  const { engine } = owner;
  try {
    await owner.write?.(async (db) => {
      for (const { id, outbox = 'sample', at, lines = 1, open = false } of records) {
        const names = ['id', 'outbox', 'actor_id', 'actor_name', 'actor_role', 'key', 'request_hash', 'operation', 'reason'];
        const values = [
          engine.fragments.typed(id, engine.companions.columns.id),
          ...[outbox, 'x', `planted ${id}`, 'operator', id, 'h', 'retry', 'planted'].map((text) => sql`${text}`),
        ];
        if (at !== undefined) {
          names.push('at');
          values.push(sql`${sql.lit(at)}`);
        }
        await sql`insert into ${headersOf(engine)} (${named(names)}) values (${sql.join(values)})`.execute(db);
        for (let line = 0; line < lines; line += 1) await addLine(engine, db, id, line);
        if (!open) await sql`update ${headersOf(engine)} set outcome = 'applied' where id = ${id}`.execute(db);
      }
    });
  } finally {
    await owner.close();
  }
}

/** So many records without lines that are in the audit already; n of them has the id 01980000-(n div 4096)-7000-8000-(16 n), in hexadecimal digits. */
export async function plantCarried(database: AnyTestDatabase, store: TestDatabase, records: number): Promise<void> {
  const inPostgres = (n: string): string =>
    `concat('01980000-', lpad(to_hex(${n} >> 12), 4, '0'), '-7000-8000-', lpad(to_hex(${n} * 16), 12, '0'))::uuid`;
  const inMysql = (n: string): string =>
    `lower(concat('01980000-', lpad(hex(${n} >> 12), 4, '0'), '-7000-8000-', lpad(hex(${n} * 16), 12, '0')))`;
  const { engine } = database;
  const there = engine === 'mysql' ? { of: inMysql, from: numbersTo(records, 'r') } : { of: inPostgres, from: series(records) };
  const table = engine === 'mysql' ? 'outbox_console_intervention' : 'outbox_console.intervention';
  await database.query(`INSERT INTO ${table}
      (id, outbox, actor_id, actor_name, actor_role, ${ENGINES[engine].quote.identifier('key')}, request_hash, operation, reason, outcome, at)
    SELECT ${there.of('r.n')}, 'sample', 'x', 'x', 'operator', concat('k', r.n), 'h', 'retry', 'planted', 'none', '2025-08-01 00:00:00'
    FROM ${there.from}`);
  await store.query(`INSERT INTO carried_record (id, outbox, lines) SELECT ${inPostgres('r.n')}, 'sample', 0 FROM ${series(records)}`);
}

const series = (most: number): string => `generate_series(1, ${String(most)}) AS r (n)`;

/** One more line of a record. */
export async function plantLine(database: AnyTestDatabase, id: string, position: number): Promise<void> {
  const owner = openDatabase({ id: 'owner', url: database.url, operatorUrl: database.url });
  await owner.write?.((db) => addLine(owner.engine, db, id, position));
  await owner.close();
}

async function addLine(engine: Engine, db: Db, id: string, position: number): Promise<void> {
  await sql`insert into ${eventTableOf(engine)} (${named(['intervention_id', 'position', 'event_id'])})
    values (${engine.fragments.typed(id, engine.companions.columns.id)}, ${sql.lit(position)}, ${`e${String(position)}`})`.execute(db);
}

/** The entries of one record, by the place of their lines. */
export async function entriesOfRecord(store: Store, id: string): Promise<AuditEntry[]> {
  const { entries } = await listAudit(store, { actor: `planted ${id}` }, { limit: 200 });
  return entries.sort((a, b) => String(a.eventId).localeCompare(String(b.eventId)));
}
