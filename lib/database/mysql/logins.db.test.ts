/** How the servers let somebody in: passwords as MySQL 8 and later keep them, TLS, and accounts that are not to be used. */
import { describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import { useTestMysql } from '@/scripts/testing/mysql';
import { openDatabase } from '../database';

describe('a login to MySQL or MariaDB', () => {
  const database = useTestMysql();
  const makeUser = async (name: string, how = ''): Promise<string> => {
    const user = `${name}_${database.name}`;
    await database.query(`CREATE USER ${user} IDENTIFIED BY 'pass word ✓' ${how}`);
    await database.query(`GRANT SELECT ON ${database.name}.* TO ${user}`);
    return user;
  };
  /** The cipher of a connection of its own, empty where there is none. */
  const cipherOf = async (user: string, parameters = '', password = 'pass word ✓'): Promise<string> => {
    const db = openDatabase({ id: 'test', url: database.urlFor(user, password) + parameters });
    try {
      const { rows } = await db.read((read) => sql<{ Value: string }>`show session status like 'Ssl_cipher'`.execute(read));
      return rows[0]?.Value ?? '';
    } finally {
      await db.close();
    }
  };

  it('works without TLS, also the first time, when MySQL has to be sent the whole password', async () => {
    const user = await makeUser('plain');
    const [account] = await database.query<{ plugin: string }>('SELECT plugin AS plugin FROM mysql.user WHERE user = ?', [user]);
    expect(account?.plugin).toBe(database.mariadb ? 'mysql_native_password' : 'caching_sha2_password');
    await expect(cipherOf(user, '', 'wrong')).rejects.toMatchObject({ code: 'connection', state: '1045' });
    expect(await cipherOf(user)).toBe('');
    // From now on the server remembers, until it is told to forget.
    expect(await cipherOf(user)).toBe('');
    await database.query('FLUSH PRIVILEGES');
    expect(await cipherOf(user)).toBe('');
    await expect(cipherOf(user, '', 'wrong')).rejects.toMatchObject({ code: 'connection', state: '1045' });
  });

  it('is by TLS where the URL asks for it, checked as far as it asks, and fails where the server has none', async () => {
    const user = await makeUser('tls');
    const [files] = await database.query<{ dir: string; ca: string | null }>('SELECT @@datadir AS dir, @@ssl_ca AS ca');
    if (database.mariadb) {
      await expect(cipherOf(user, '?ssl-mode=required')).rejects.toMatchObject({ code: 'connection', state: 'HANDSHAKE_NO_SSL_SUPPORT' });
      return;
    }
    expect(await cipherOf(user, '?ssl-mode=required')).not.toBe('');
    const ca = encodeURIComponent(`${files?.dir ?? ''}${files?.ca ?? ''}`);
    expect(await cipherOf(user, `?ssl-mode=verify_ca&ssl-ca=${ca}`)).not.toBe('');
    // Nobody vouches for what the server made for itself, and its name is not this address.
    await expect(cipherOf(user, '?ssl-mode=verify_ca')).rejects.toMatchObject({ code: 'connection' });
    await expect(cipherOf(user, `?ssl-mode=verify_identity&ssl-ca=${ca}`)).rejects.toMatchObject({ code: 'connection' });
  });

  it('is refused as what it is: without the TLS it needs, locked, or with a password that has expired', async () => {
    await expect(cipherOf(await makeUser('secure', 'REQUIRE SSL'))).rejects.toMatchObject({ code: 'connection', state: '1045' });
    const locked = cipherOf(await makeUser('locked', 'ACCOUNT LOCK'));
    await expect(locked).rejects.toMatchObject({ code: 'connection', state: database.mariadb ? '4151' : '3118' });
    const expired = cipherOf(await makeUser('expired', 'PASSWORD EXPIRE'));
    await expect(expired).rejects.toMatchObject({ code: 'connection' });
  });

  it('a database that is set to be read only refuses changes as such, where a server knows that', async () => {
    await database.query('CREATE TABLE t (id int)');
    const setting = database.query(`ALTER DATABASE ${database.name} READ ONLY = 1`);
    if (database.mariadb) return expect(setting).rejects.toMatchObject({ errno: 1064 });
    await setting;
    const db = openDatabase({ id: 'test', url: database.url, operatorUrl: database.url });
    await expect(db.write?.((write) => sql`insert into t values (1)`.execute(write))).rejects.toMatchObject({ code: 'read_only' });
    await db.close();
    await database.query(`ALTER DATABASE ${database.name} READ ONLY = 0`);
  });
});
