import { describe, expect, it } from 'vitest';
import { useTestDatabase } from './database';

describe('a test file’s own database', () => {
  const first = useTestDatabase(async (database) => {
    await database.query('CREATE TABLE seen (id int)');
  });
  const second = useTestDatabase();

  it('is set up before the first test', async () => {
    expect(await first.query('SELECT * FROM seen')).toEqual([]);
  });

  it('is nobody else’s', async () => {
    expect(first.name).not.toBe(second.name);
    await expect(second.query('SELECT * FROM seen')).rejects.toThrow('does not exist');
  });

  it('has an address for a further login', () => {
    const url = new URL(first.urlFor('reader', 'p@ss'));
    expect(url.username).toBe('reader');
    expect(url.password).toBe('p%40ss');
    expect(url.pathname).toBe(`/${first.name}`);
  });
});
