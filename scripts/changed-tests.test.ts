import { describe, expect, it } from 'vitest';
import { chooseTests, databaseTests } from './changed-tests';

const imports = new Map([
  ['lib/a/guard.db.test.ts', ['lib/a/guard', 'lib/b/row']],
  ['lib/a/other.db.test.ts', ['lib/b/row']],
  ['lib/c/far.db.test.ts', ['lib/c/far']],
  ['lib/c/slow.db.test.ts', ['lib/b/row']],
]);
const seconds = (file: string): number => (file.includes('slow') ? 39 : 10);

describe('the database tests of a change', () => {
  it('are those changed, beside a changed file, or importing one', () => {
    expect(chooseTests(['lib/c/far.db.test.ts', 'lib/a/guard.ts'], imports, seconds).run).toEqual([
      'lib/c/far.db.test.ts',
      'lib/a/guard.db.test.ts',
    ]);
    expect(chooseTests(['docs/http.md'], imports, seconds)).toEqual({ run: [], left: [] });
  });

  it('fit into the budget, the nearest and shortest first; the others are named', () => {
    expect(chooseTests(['lib/b/row.ts'], imports, seconds)).toEqual({
      run: ['lib/a/guard.db.test.ts', 'lib/a/other.db.test.ts'],
      left: ['lib/c/slow.db.test.ts'],
    });
    expect(chooseTests(['lib/c/slow.db.test.ts'], imports, () => 500).run).toEqual(['lib/c/slow.db.test.ts']);
  });

  it('are found in this repository with what they import', () => {
    expect(databaseTests().get('lib/store/migrations.db.test.ts')).toContain('lib/store/migrations');
  });
});
