/** What is asked of the owner of a database: each grant with its operations, and each column that the outbox gained. */
import { describe, expect, it } from 'vitest';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { workerStatus } from '@/lib/shape/catalog/worker-status';
import { createSample, openSample, tableOf, useTestDatabaseOf } from '@/scripts/testing/outbox';
import { applyInstall, installStatements } from './install';

describe.each([
  ['postgres', escrowStatus],
  ['postgres', workerStatus],
  ['mysql', workerStatus],
] as const)('install on %s', (engine, shape) => {
  const database = useTestDatabaseOf(engine, (db) => createSample(db, shape));
  const gained = `ALTER TABLE ${tableOf(shape, 'main', engine)} ADD COLUMN gained int NULL`;

  it(`says of every right of ${shape.key} which operations need it, and lets the archive follow the outbox`, async () => {
    const { outbox, rebind, close } = await openSample(database, shape);
    const statements = await installStatements(outbox);
    const operations = [...Object.keys(shape.operations), 'archive', 'restore', 'Every operation', 'Reading and every operation'];
    const toOperator = statements.filter(({ sql }) => sql.startsWith('GRANT') && sql.includes(outbox.database.roles.operator ?? '?'));
    expect(toOperator.length).toBeGreaterThan(4);
    for (const { why, sql } of toOperator) {
      const rights = /^GRANT (.*?) ON /.exec(sql)?.[1] ?? '';
      expect(
        operations.some((operation) => why.includes(operation)),
        `${sql}: ${why}`,
      ).toBe(true);
      if (/ ON \S*intervention/.test(sql) || /^(USAGE|SELECT)/.test(rights)) continue;
      for (const right of rights.replace(/\(.*?\)/g, '').split(',')) expect(why, sql).toContain(right.trim());
      for (const [, column = ''] of (/UPDATE \((.*?)\)/.exec(rights)?.[1] ?? '').matchAll(/([^,\s]+)/g))
        expect(why, sql).toContain(`UPDATE (${column}) `);
    }
    const own = toOperator.find(({ why }) => why.startsWith(`The operator on ${outbox.main.table.table}: `));
    expect(own?.why).toMatch(/INSERT for restore; DELETE for archive; /);
    // A right that no operation is named for is one too many.
    expect(own?.why).not.toMatch(/for (;|$)/);

    await database.query(gained);
    const behind = await rebind();
    expect(behind.whyReadOnly).toBe('companions_out_of_date');
    await applyInstall(behind, database.url);
    // What was printed before can be run once more, where the engine knows how to say so.
    if (engine === 'postgres') await applyInstall(behind, database.url);
    const installed = await rebind();
    expect(installed.whyReadOnly).not.toBe('companions_out_of_date');
    expect(installed.archive?.description.columns.has('gained')).toBe(true);
    await close();
  });
});
