import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDirectory, type OutboxDirectory } from '@/lib/outbox/directory';
import { putSilence } from '@/lib/store/doctor';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { useTestDatabase } from '@/scripts/testing/database';
import { createRoles, settingsIn } from '@/scripts/testing/outbox';
import { createExaminer, type Examiner } from './examiner';
import { fill, keptTables, shapeCalled } from '@/fixtures/doctor';

describe('the examiner', () => {
  const database = useTestDatabase();
  let directory: OutboxDirectory;
  let store: Store;
  let examiner: Examiner;
  // Noon: the minutes that pass below stay within one day.
  let clockMs = new Date().setUTCHours(12, 0, 0, 0);
  const failures: string[] = [];

  beforeAll(async () => {
    const roles = await createRoles(database);
    const reader = `r_${database.name}`;
    for (const schema of ['well', 'ill']) {
      await database.query([...keptTables('escrow-status', schema), fill('escrow-status', schema, 500)].join(';\n'));
      await database.query(`GRANT USAGE ON SCHEMA ${schema} TO ${reader}; GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${reader}`);
    }
    await database.query('DROP INDEX ill.kept_dedup');
    await migrateStore(database.url);
    store = openStore(database.url);
    directory = createDirectory({
      databases: [
        { id: 'test', url: roles.reader },
        { id: 'away', url: 'postgres://nobody:x@127.0.0.1:1/none' },
      ],
      outboxes: [
        ...['well', 'ill'].map((schema) => ({ ...settingsIn(shapeCalled('escrow-status'), schema), database: 'test' })),
        { ...settingsIn(shapeCalled('escrow-status'), 'gone'), database: 'away' },
        { ...settingsIn(shapeCalled('escrow-status'), 'nowhere'), database: 'test' },
      ],
    });
    examiner = createExaminer({ directory, store, now: () => clockMs, onFailure: (outbox) => failures.push(outbox) });
  });
  afterAll(() => Promise.all([directory.close(), store.close()]));

  it('answers at once, examines meanwhile, and says of those that are away that they are', async () => {
    const first = await examiner.snapshot();
    expect(first.waiting.length).toBeGreaterThan(0);
    await expect.poll(async () => (await examiner.snapshot()).waiting).toEqual([]);
    const { examinations } = await examiner.snapshot();
    expect(examinations.map(({ outbox, problem, findings }) => [outbox, problem, findings.map(({ check }) => check)])).toEqual([
      ['well', null, []],
      ['ill', null, ['dedup_key']],
      ['gone', 'unavailable', []],
      ['nowhere', 'unusable', []],
    ]);
    expect(failures.sort()).toEqual(['gone', 'nowhere']);
  });

  it('shares an examination for ten minutes, unless somebody asks for a new one', async () => {
    const at = async (): Promise<string | undefined> => (await examiner.snapshot('well')).examinations[0]?.at;
    const first = await at();
    clockMs += 540_000;
    expect(await at()).toBe(first);
    expect((await examiner.examine('well')).at).not.toBe(first);
    clockMs += 660_000;
    const second = await at();
    await expect.poll(at).not.toBe(second);
  });

  it('keeps one sample a day, and judges growth and rates by it', async () => {
    const day = (offset: number): string => new Date(clockMs + offset * 86_400_000).toISOString();
    expect(await database.query(`SELECT outbox FROM doctor_sample WHERE outbox = 'well'`)).toHaveLength(1);
    clockMs += 86_400_000 * 2;
    const { tables } = await examiner.examine('well');
    expect(tables[0]?.growthBytesPerDay).toBe(0);
    expect(await database.query(`SELECT day::text FROM doctor_sample WHERE outbox = 'well' ORDER BY day`)).toEqual([
      { day: day(-2).slice(0, 10) },
      { day: day(0).slice(0, 10) },
    ]);
  });

  it('tells the worst open finding for the fleet; a silenced one stays listed and counts no more', async () => {
    examiner = createExaminer({ directory, store });
    await Promise.all(['well', 'ill'].map((id) => examiner.examine(id)));
    expect(await examiner.headlines()).toEqual(new Map([['ill', { severity: 'watch', count: 1 }]]));
    const [finding] = (await examiner.examine('ill')).findings;
    await putSilence(store.db, {
      outbox: 'ill',
      finding: finding?.id ?? '',
      reason: 'keys are random',
      actor: { id: 'account:1', name: 'mina@example.com' },
    });
    const [silenced] = (await examiner.snapshot('ill')).examinations[0]?.findings ?? [];
    expect(silenced).toMatchObject({ id: finding?.id, silence: { reason: 'keys are random', actor: 'mina@example.com' } });
    expect(await examiner.headlines()).toEqual(new Map());
  });

  it('knows no outbox that is not configured', async () => {
    await expect(examiner.snapshot('other')).rejects.toMatchObject({ code: 'not_found' });
  });
});
