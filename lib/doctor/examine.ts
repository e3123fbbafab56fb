import type { Outbox } from '@/lib/outbox/outbox';
import { rankFindings, type Examination, type Finding, type TableReport } from '@/lib/shared/doctor';
import type { EngineKey } from '@/lib/shared/model';
import type { CheckInput, Checks } from './check';
import { nameOf, tablesOf, type Facts, type TableFacts } from './facts/facts';
import { INDEX_CHECKS } from './indexes';
import { RIGHT_CHECKS } from './rights';
import { ROW_CHECKS } from './rows';
import { SLOT_CHECKS } from './slots';
import { TABLE_CHECKS } from './tables';
import { VACUUM_CHECKS } from './vacuum';
import { readMysqlFacts } from './facts/mysql';
import { readPostgresFacts } from './facts/postgres';
import { FIXES } from './fixes';
import { growthOf, ratesOf, sampleOf, type Sample } from './samples';

const READERS: Record<EngineKey, (outbox: Outbox, now: number) => Promise<Facts>> = { postgres: readPostgresFacts, mysql: readMysqlFacts };

export const CHECKS: Checks = { ...INDEX_CHECKS, ...ROW_CHECKS, ...TABLE_CHECKS, ...RIGHT_CHECKS, ...SLOT_CHECKS, ...VACUUM_CHECKS };

/** Reads an outbox's facts, bounded whatever the table's size, and judges them by earlier samples, oldest first. Throws DatabaseFailure. */
export async function examineOutbox(outbox: Outbox, samples: readonly Sample[], now: () => number = Date.now) {
  const { database } = outbox;
  const { engine } = database;
  const begun = now();
  const facts = await READERS[engine.key](outbox, begun);
  const input: CheckInput = { outbox, facts, samples, fixes: FIXES[engine.key](engine), now: now() };
  const at = new Date(input.now).toISOString();
  const findings = Object.entries(CHECKS).flatMap(([check, examine]) =>
    examine(input).map(({ severity, subject = null, values, cure = null }): Finding => {
      return { id: subject === null ? check : `${check}:${subject}`, check, severity, subject, values, cure, silence: null };
    }),
  );
  const about = { outbox: outbox.id, name: outbox.settings.name, database: database.id, engine: engine.key, table: nameOf(facts.main) };
  const found = { findings: rankFindings(findings), tables: tablesOf(facts).map((table) => reportOf(table, input)) };
  const { statisticsSince, unseen } = facts;
  const examination: Examination = { ...about, at, tookMs: input.now - begun, ...found, statisticsSince, unseen, problem: null };
  return { examination, sample: sampleOf(facts, at) };
}

function reportOf(table: TableFacts, { facts, samples, now }: CheckInput): TableReport {
  const rates = ratesOf(table, samples, facts.statisticsSince, now);
  const { place, rows, tableBytes, indexBytes, writes, indexes } = table;
  return {
    place: place.key === 'dead' ? 'dead' : 'main',
    table: nameOf(table),
    rows,
    tableBytes,
    indexBytes,
    growthBytesPerDay: growthOf(table, samples, now)?.bytesPerDay ?? null,
    writesPerSecond: rates === null ? null : rates.insertsPerSecond + rates.updatesPerSecond + rates.deletesPerSecond,
    hotShare: writes === null || writes.hotUpdates === null || writes.updates === 0 ? null : writes.hotUpdates / writes.updates,
    indexes: indexes.map(({ name, definition, bytes, entries, scans, valid }) => ({ name, definition, bytes, entries, scans, valid })),
  };
}
