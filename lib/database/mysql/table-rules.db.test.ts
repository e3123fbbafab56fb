/** What a table's own rules are, as the two servers tell them. */
import { expect, it } from 'vitest';
import { useTestMysql } from '@/scripts/testing/mysql';
import { openDatabase } from '../database';
import { readMysqlTableRules } from './table-rules';

const database = useTestMysql();

it('a check is told with its texts as the standard writes them, and with the columns it names', async () => {
  await database.query(
    `CREATE TABLE checked (id int PRIMARY KEY, state varchar(20), \`상태\` varchar(9), note varchar(9), n int,
      CONSTRAINT words CHECK (state IN ('new', 'it''s', 'back\\\\slash', '한국')), CONSTRAINT named CHECK (\`상태\` <> '취소'), CONSTRAINT range_of CHECK (n BETWEEN 0 AND 20))`,
  );
  const db = openDatabase({ id: 'test', url: database.url });
  const [rules] = await db.read((read) => readMysqlTableRules(read, [{ schema: null, table: 'checked' }])).finally(() => db.close());
  const checks = new Map(rules?.checks.map(({ name, text, columns }) => [name, { text, columns }]));
  const literals = [...(checks.get('words')?.text ?? '').matchAll(/'((?:[^']|'')*)'/g)].map(([, literal]) => literal);
  expect(literals).toEqual(['new', "it''s", 'back\\slash', '한국']);
  expect(checks.get('words')?.columns).toEqual(['state']);
  expect(checks.get('named')).toMatchObject({ columns: ['상태'] });
  expect(checks.get('named')?.text).toContain("'취소'");
  expect(checks.get('range_of')?.columns).toEqual(['n']);
});

it('a check is of its own table, whatever checks of other tables are called', async () => {
  for (const [table, kind] of [
    ['outbox', 'ours'],
    ['outbox_dead', 'theirs'],
  ] as const)
    await database.query(`CREATE TABLE ${table} (id int PRIMARY KEY, kind varchar(20) CHECK (kind <> '${kind}'))`);
  const db = openDatabase({ id: 'test', url: database.url });
  const [rules] = await db.read((read) => readMysqlTableRules(read, [{ schema: null, table: 'outbox' }])).finally(() => db.close());
  expect(rules?.checks.map(({ text }) => /'(.*)'/.exec(text)?.[1])).toEqual(['ours']);
});
