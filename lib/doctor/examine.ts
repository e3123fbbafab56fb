import type { Outbox } from '@/lib/outbox/outbox';
import { rankFindings, type Examination, type Finding, type TableReport } from '@/lib/shared/doctor';
import { CHECKS } from './check-registry.gen';
import { doctorEngine } from './doctor-engine';
import { tablesOf, type Facts } from './facts/facts';
import { growthOf, nameOf, ratesOf, sampleOf, type Sample, type Trend } from './trend';

export interface Examined {
  examination: Examination;
  /** What later examinations compare with. */
  sample: Sample;
}

/**
 * Examines an outbox: reads its facts, a bounded amount whatever the table's size, and judges them. Findings carry no
 * silences yet. Throws DatabaseFailure.
 */
export async function examineOutbox(outbox: Outbox, trend: Trend, now: () => number = Date.now): Promise<Examined> {
  const engine = doctorEngine(outbox.database.engine.key);
  const begun = now();
  const facts = await engine.readFacts(outbox, now);
  const at = new Date(now()).toISOString();
  const patient = { outbox, facts, trend, cures: engine.cures(outbox), now: now() };
  const findings = CHECKS.filter(({ engines }) => engines.includes(outbox.database.engine.key)).flatMap((check) =>
    check.examine(patient).map(({ severity, subject, values, cure }): Finding => ({
      id: subject === undefined ? check.id : `${check.id}:${subject}`,
      check: check.id,
      severity,
      subject: subject ?? null,
      values,
      cure: cure ?? null,
      silence: null,
    })),
  );
  const examination: Examination = {
    outbox: outbox.id,
    name: outbox.settings.name,
    database: outbox.database.id,
    engine: outbox.database.engine.key,
    table: nameOf(facts.main),
    at,
    tookMs: now() - begun,
    findings: rankFindings(findings),
    tables: tablesOf(facts).map((table) => reportOf(table, facts, trend, patient.now)),
    statisticsSince: facts.statisticsSince,
    unseen: facts.unseen,
    problem: null,
  };
  return { examination, sample: sampleOf(facts, at) };
}

function reportOf(table: Facts['main'], facts: Facts, trend: Trend, now: number): TableReport {
  const rates = ratesOf(table, trend, facts.statisticsSince, now);
  const { writes } = table;
  return {
    place: table.place.key === 'dead' ? 'dead' : 'main',
    table: nameOf(table),
    rows: table.rows,
    tableBytes: table.tableBytes,
    indexBytes: table.indexBytes,
    growthBytesPerDay: growthOf(table, trend, now)?.bytesPerDay ?? null,
    writesPerSecond: rates === null ? null : rates.insertsPerSecond + rates.updatesPerSecond + rates.deletesPerSecond,
    hotShare: writes === null || writes.hotUpdates === null || writes.updates === 0 ? null : writes.hotUpdates / writes.updates,
    indexes: table.indexes.map(({ name, definition, bytes, entries, scans, valid }) => ({
      name,
      definition,
      bytes,
      entries,
      scans,
      valid,
    })),
  };
}
