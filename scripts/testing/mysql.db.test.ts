import { describe, expect, it } from 'vitest';
import { useTestMysql } from './mysql';

describe('a test file’s own MariaDB database', () => {
  const first = useTestMysql(async (database) => {
    await database.query('CREATE TABLE seen (id int)');
  });
  const second = useTestMysql();

  it('is set up before the first test', async () => {
    expect(await first.query('SELECT * FROM seen')).toEqual([]);
  });

  it('is nobody else’s', async () => {
    expect(first.name).not.toBe(second.name);
    await expect(second.query('SELECT * FROM seen')).rejects.toThrow("doesn't exist");
  });

  it('has an address for a further login', () => {
    const url = new URL(first.urlFor('reader', 'p@ss'));
    expect(url.password).toBe('p%40ss');
    expect(url.pathname).toBe(`/${first.name}`);
  });
});
